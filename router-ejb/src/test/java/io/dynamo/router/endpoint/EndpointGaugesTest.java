package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.PrometheusText;
import io.dynamo.metrics.RouterMetrics;
import org.junit.jupiter.api.Test;

class EndpointGaugesTest {
  private static final String WORKERS =
      RouterMetrics.WORKERS.name() + "{endpoint=\"" + FakeInstances.ENDPOINT + "\"} 2";

  private final Metrics metrics = new Metrics();
  private final PrometheusText text = new PrometheusText();
  private final FakeInstances workers = new FakeInstances();

  private EndpointGauges gauges() {
    metrics.attach(text);
    var gauges = new EndpointGauges(metrics, FakeInstances.ENDPOINT, workers);
    gauges.add(RouterMetrics.WORKERS, () -> 2);
    return gauges;
  }

  @Test
  void theyComeAndGoWithTheWorkers() {
    var gauges = gauges();
    assertThat(text.write()).as("nobody is there yet").isEmpty();
    workers.set(1, 2);
    assertThat(text.write()).contains(WORKERS);
    workers.set();
    assertThat(text.write()).doesNotContain(RouterMetrics.WORKERS.name());
    workers.set(3);
    assertThat(text.write()).contains(WORKERS);
    gauges.close();
    assertThat(text.write()).doesNotContain(RouterMetrics.WORKERS.name());
  }

  @Test
  void oneThatIsAddedLaterIsPublishedAtOnce() {
    try (var gauges = gauges()) {
      workers.set(1);
      gauges.add(RouterMetrics.INDEX_BLOCKS, () -> 7);
      gauges.add(RouterMetrics.INDEX_BLOCKS, () -> 8);
      assertThat(text.write()).contains(RouterMetrics.INDEX_BLOCKS.name() + "{").contains("} 7");
    }
    assertThat(workers.listeners()).isEmpty();
  }
}
