package io.dynamo.worker.engine.mock;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.inference.RoutingHints;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.PrometheusText;
import io.dynamo.testing.Exposition;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.Requests;
import java.lang.reflect.Proxy;
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
  void theSimulationIsPublishedAsDynamosMockerIs() {
    metrics.attach(text);
    var config =
        new MockEngineConfig(
            2, 1, 2, 1000, 4, 64, 64, Duration.ofMillis(1), Duration.ofMillis(1), 64, 7, 8);
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
      var during = Exposition.of(text.write());
      assertThat(during.sum("vllm:num_requests_running")).isEqualTo(1);
      assertThat(during.sum("vllm:num_requests_waiting")).isEqualTo(1);
      assertThat(during.sum("vllm:kv_cache_usage_perc")).isPositive();
      assertThat(during.sum("vllm:gpu_cache_usage_perc")).isPositive();

      waits.cancel();
      time.advance(Duration.ofSeconds(1));
      assertThat(whole.isEnded()).isTrue();
    }
    var after = Exposition.of(text.write());
    var captured = Exposition.captured("worker-system-port.prom");
    for (var name : CLAIMED) {
      assertThat(after.family(name)).as(name).isEqualTo(captured.family(name));
    }
    assertThat(after.sum("vllm:time_to_first_token_seconds_count")).isEqualTo(1);
    assertThat(after.sum("vllm:inter_token_latency_seconds_count")).isEqualTo(4);
    assertThat(after.sum("vllm:e2e_request_latency_seconds_count")).isEqualTo(1);
    assertThat(after.text())
        .contains("vllm:e2e_request_latency_seconds_count{engine=\"1\",model_name=\"tiny\"} 1");
  }
}
