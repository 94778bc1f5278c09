package io.dynamo.config.watch;

/**
 * The settings of metrics, traces, the request log and the records of requests.
 *
 * @param requestLog whether each finished request is logged as one line
 * @param console the lines of requests on the console
 * @param requestTrace the records that finished requests leave
 */
public record WatchSettings(
    MetricsSettings metrics,
    TraceSettings trace,
    boolean requestLog,
    ConsoleLogSettings console,
    RequestTraceSettings requestTrace) {}
