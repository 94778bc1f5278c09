/**
 * The settings of metrics, traces, the request log and the status server. Start at {@link
 * io.dynamo.config.watch.WatchSettings}.
 */
@NullMarked
package io.dynamo.config.watch;

import org.jspecify.annotations.NullMarked;
