package io.dynamo.worker.engine.mock;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.inference.RoutingHints;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.PrometheusText;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.ManualPacer;
import io.dynamo.worker.engine.Requests;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class VllmSeriesTest {
  private static final List<String> CLAIMED =
      List.of(
          "vllm:e2e_request_latency_seconds",
          "vllm:gpu_cache_usage_perc",
          "vllm:inter_token_latency_seconds",
          "vllm:kv_cache_usage_perc",
          "vllm:num_preemptions_total",
          "vllm:num_requests_running",
          "vllm:num_requests_waiting",
          "vllm:time_to_first_token_seconds");

  private final Metrics metrics = new Metrics();
  private final PrometheusText text = new PrometheusText();
  private final ManualPacer time = new ManualPacer();

  private static KvEventSink deaf() {
    return (KvEventSink)
        Proxy.newProxyInstance(
            KvEventSink.class.getClassLoader(),
            new Class<?>[] {KvEventSink.class},
            (_, _, _) -> null);
  }

  @Test
  void theSimulationIsPublishedAsDynamosMockerIs() throws Exception {
    metrics.attach(text);
    var config =
        new MockEngineConfig(
            2,
            1,
            2,
            1000,
            4,
            64,
            64,
            Scheduling.of(new PassTiming.Linear(Duration.ofMillis(1), Duration.ofMillis(1))),
            64,
            7,
            8);
    try (var engine =
        new MockEngine(
            config,
            new OracleTokens(new int[] {10, 11, 12}),
            new Xxh3BlockHashing(),
            new HeapMemory(),
            time,
            new VllmSeries(metrics, "tiny"))) {
      engine.start(deaf());
      var second = new RoutingHints(1);
      var whole =
          Collected.all(
              engine.generate(
                  Requests.of(Requests.prompt(1, 9), 5).routedTo(second), Requests.context()));
      var waits =
          Collected.all(
              engine.generate(
                  Requests.of(Requests.prompt(1, 9), 5).routedTo(second), Requests.context()));
      time.advance(Duration.ofMillis(10));
      assertThat(text.write())
          .contains("vllm:num_requests_running{engine=\"1\",model_name=\"tiny\"} 1\n")
          .contains("vllm:num_requests_waiting{engine=\"1\",model_name=\"tiny\"} 1\n")
          .contains("vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"tiny\"} 0\n")
          .doesNotContain("vllm:kv_cache_usage_perc{engine=\"1\",model_name=\"tiny\"} 0\n")
          .doesNotContain("vllm:gpu_cache_usage_perc{engine=\"1\",model_name=\"tiny\"} 0\n");

      waits.cancel();
      time.advance(Duration.ofSeconds(1));
      assertThat(whole.isEnded()).isTrue();
    }
    assertThat(shape(text.write()))
        .containsExactlyElementsOf(
            shape(captured()).stream()
                .filter(line -> CLAIMED.stream().anyMatch(line::contains))
                .toList());
    assertThat(text.write())
        .contains("vllm:time_to_first_token_seconds_count{engine=\"1\",model_name=\"tiny\"} 1\n")
        .contains("vllm:inter_token_latency_seconds_count{engine=\"1\",model_name=\"tiny\"} 4\n")
        .contains("vllm:e2e_request_latency_seconds_count{engine=\"1\",model_name=\"tiny\"} 1\n");
  }

  /** Returns the lines of the first engine's series, without their values. */
  private static List<String> shape(String text) {
    return text.lines()
        .filter(line -> line.contains(" vllm:") || line.startsWith("vllm:"))
        .filter(line -> line.startsWith("#") || line.contains("engine=\"0\""))
        .map(line -> line.startsWith("#") ? line : line.substring(0, line.lastIndexOf(' ')))
        .toList();
  }

  private static String captured() throws IOException {
    try (var in =
        VllmSeriesTest.class.getResourceAsStream("/golden/metrics/worker-system-port.prom")) {
      if (in == null) {
        throw new AssertionError("no captured text");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
