/**
 * The one facade that owns the meters, and the outlets that publish them. Start at {@link
 * io.dynamo.metrics.Metrics}.
 */
@NullMarked
package io.dynamo.metrics;

import org.jspecify.annotations.NullMarked;
