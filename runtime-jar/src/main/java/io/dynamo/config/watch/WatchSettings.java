package io.dynamo.config.watch;

/**
 * What a server tells of its work.
 *
 * @param requestLog whether each finished request is a line in the log
 */
public record WatchSettings(MetricsSettings metrics, TraceSettings trace, boolean requestLog) {}
