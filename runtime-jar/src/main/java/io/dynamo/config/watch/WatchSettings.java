package io.dynamo.config.watch;

/**
 * The settings of metrics, traces and the request log.
 *
 * @param requestLog whether each finished request is logged as one line
 * @param console the lines of requests on the console
 */
public record WatchSettings(
    MetricsSettings metrics, TraceSettings trace, boolean requestLog, ConsoleLogSettings console) {}
