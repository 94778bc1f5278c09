/**
 * Who lives where, under which lease, and which models they serve. Start at {@link
 * io.dynamo.discovery.Discovery}.
 */
@NullMarked
package io.dynamo.discovery;

import org.jspecify.annotations.NullMarked;
