/**
 * The records of instances: their addresses, leases and the models that they serve. Start at {@link
 * io.dynamo.discovery.Discovery}.
 */
@NullMarked
package io.dynamo.discovery;

import org.jspecify.annotations.NullMarked;
