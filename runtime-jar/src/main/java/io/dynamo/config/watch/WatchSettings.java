package io.dynamo.config.watch;

/**
 * The settings of metrics, traces and the request log.
 *
 * @param requestLog whether each finished request is logged as one line
 */
public record WatchSettings(MetricsSettings metrics, TraceSettings trace, boolean requestLog) {}
