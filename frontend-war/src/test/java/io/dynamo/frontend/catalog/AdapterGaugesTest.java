package io.dynamo.frontend.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.frontend.TestCard;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.PrometheusText;
import io.dynamo.model.LoraAdapter;
import org.junit.jupiter.api.Test;

class AdapterGaugesTest {
  private static final EndpointId ENDPOINT = new EndpointId("dynamo", "backend", "generate");
  private static final EndpointId OTHER = new EndpointId("other", "backend", "generate");

  private final PlayedDiscovery discovery = new PlayedDiscovery();
  private final PrometheusText text = new PrometheusText();

  AdapterGaugesTest() {
    var metrics = new Metrics();
    metrics.attach(text);
    new AdapterGauges(discovery, ENDPOINT::equals, metrics);
  }

  private static ModelRecord adapter(EndpointId endpoint, long worker, String name) {
    var card = TestCard.named("tiny").build().of(LoraAdapter.of(name, 4));
    return new ModelRecord(endpoint, new InstanceId(worker), card, card.slug());
  }

  private static String line(String name, int workers) {
    return "dynamo_frontend_lora_replica_factor{endpoint=\"%s\",lora=\"%s\"} %d\n"
        .formatted(ENDPOINT, name, workers);
  }

  @Test
  void anAdapterCountsTheWorkersThatHaveIt() {
    discovery.add(adapter(ENDPOINT, 1, "support"));
    discovery.add(adapter(ENDPOINT, 2, "support"));
    discovery.add(adapter(ENDPOINT, 2, "sales"));

    assertThat(text.write()).contains(line("support", 2)).contains(line("sales", 1));
  }

  @Test
  void itsSeriesGoesWithTheLastWorker() {
    discovery.add(adapter(ENDPOINT, 1, "support"));
    discovery.add(adapter(ENDPOINT, 2, "support"));
    discovery.lose(adapter(ENDPOINT, 1, "support"));
    assertThat(text.write()).contains(line("support", 1));

    discovery.lose(adapter(ENDPOINT, 2, "support"));
    assertThat(text.write()).doesNotContain("lora");
  }

  @Test
  void modelsAndOtherNamespacesAreNotCounted() {
    discovery.add(
        new ModelRecord(ENDPOINT, new InstanceId(1), TestCard.named("tiny").build(), null));
    discovery.add(adapter(OTHER, 1, "support"));

    assertThat(text.write()).doesNotContain("lora");
  }
}
