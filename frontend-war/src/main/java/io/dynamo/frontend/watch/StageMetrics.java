package io.dynamo.frontend.watch;

import io.dynamo.metrics.MetricName;

/** Names of the metrics of stages: Dynamo's. */
public final class StageMetrics {
  public static final MetricName REQUESTS =
      new MetricName("dynamo_frontend_stage_requests", "Requests in a stage now");
  public static final MetricName DURATION =
      MetricName.histogram(
          "dynamo_frontend_stage_duration_seconds",
          "How long requests stayed in a stage",
          0.0001,
          0.0005,
          0.001,
          0.005,
          0.01,
          0.05,
          0.1,
          0.5,
          1,
          2.5,
          5);
  public static final MetricName TEMPLATE =
      MetricName.histogram(
          "dynamo_frontend_template_seconds",
          "How long the chat template took",
          0.00001,
          0.00005,
          0.0001,
          0.0005,
          0.001,
          0.005,
          0.01,
          0.05);
  public static final MetricName TOKENIZE =
      MetricName.histogram(
          "dynamo_frontend_tokenize_seconds",
          "How long the tokenizer took for a prompt",
          0.0001,
          0.0005,
          0.001,
          0.005,
          0.01,
          0.05,
          0.1,
          0.5,
          1);
  public static final MetricName TOKENIZER_LATENCY =
      MetricName.histogram(
          "dynamo_frontend_tokenizer_latency_ms",
          "How long the tokenizer took: for a prompt (tokenize), for one generated token"
              + " (detokenize, a request's mean)",
          0.5,
          1,
          2,
          4,
          8,
          16,
          32,
          64,
          128,
          256,
          512);
  public static final MetricName DETOKENIZE_MICROS =
      new MetricName(
          "dynamo_frontend_detokenize_total_us",
          "Microseconds spent turning tokens into text, from every sixteenth token's");
  public static final MetricName DETOKENIZED =
      new MetricName("dynamo_frontend_detokenize_token_count", "Tokens turned into text");

  private StageMetrics() {}
}
