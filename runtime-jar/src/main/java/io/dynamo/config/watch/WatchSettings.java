package io.dynamo.config.watch;

/**
 * The settings of metrics, traces and the request log.
 *
 * @param requestLog whether each finished request is a line in the log
 */
public record WatchSettings(MetricsSettings metrics, TraceSettings trace, boolean requestLog) {}
