package io.dynamo.metrics;

/** The metrics of the simulated engine under vLLM's names, as Dynamo's mocker publishes them. */
public final class SimulationMetrics {
  public static final MetricName REQUEST_LATENCY =
      MetricName.histogram(
          "vllm:e2e_request_latency_seconds",
          "Histogram of e2e request latency in seconds.",
          0.3,
          0.5,
          0.8,
          1,
          1.5,
          2,
          2.5,
          5,
          10,
          15,
          20,
          30,
          40,
          50,
          60,
          120,
          240,
          480,
          960,
          1920,
          7680);
  public static final MetricName TIME_TO_FIRST_TOKEN =
      MetricName.histogram(
          "vllm:time_to_first_token_seconds",
          "Histogram of time to first token in seconds.",
          0.001,
          0.005,
          0.01,
          0.02,
          0.04,
          0.06,
          0.08,
          0.1,
          0.25,
          0.5,
          0.75,
          1,
          2.5,
          5,
          7.5,
          10,
          20,
          40,
          80,
          160,
          640,
          2560);
  public static final MetricName INTER_TOKEN_LATENCY =
      MetricName.histogram(
          "vllm:inter_token_latency_seconds",
          "Histogram of inter-token latency in seconds.",
          0.01,
          0.025,
          0.05,
          0.075,
          0.1,
          0.15,
          0.2,
          0.3,
          0.4,
          0.5,
          0.75,
          1,
          2.5,
          5,
          7.5,
          10,
          20,
          40,
          80);
  public static final MetricName RUNNING =
      new MetricName("vllm:num_requests_running", "Number of requests currently running on GPU.");
  public static final MetricName WAITING =
      new MetricName("vllm:num_requests_waiting", "Number of requests waiting to be processed.");
  public static final MetricName CACHE_USAGE =
      new MetricName(
          "vllm:kv_cache_usage_perc", "KV-cache usage as a fraction of available cache blocks.");
  public static final MetricName GPU_CACHE_USAGE =
      new MetricName(
          "vllm:gpu_cache_usage_perc",
          "Compatibility alias for KV-cache usage as a fraction of available cache blocks.");
  public static final MetricName PREEMPTIONS =
      new MetricName("vllm:num_preemptions_total", "Cumulative number of request preemptions.");

  private SimulationMetrics() {}
}
