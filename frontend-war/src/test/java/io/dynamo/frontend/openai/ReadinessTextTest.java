package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.catalog.Readiness;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReadinessTextTest {
  private static String body(Readiness readiness) {
    return new String(ReadinessText.body("script", readiness), StandardCharsets.UTF_8);
  }

  @Test
  void aServedModelReadsAsDynamosDoes() {
    assertThat(body(new Readiness("dynamo", "aggregated", 1, List.of(), true)))
        .isEqualTo(
            "{\"model\":\"script\",\"ready\":true,\"namespaces\":{\"dynamo\":{\"ready\":true,"
                + "\"worker_types\":{\"aggregated\":{\"workers\":1,\"needs\":[]}},"
                + "\"present\":[\"aggregated\"],\"missing_worker_types\":[]}}}");
  }

  @Test
  void aModelWithoutAWorkerNamesTheMissingPart() {
    assertThat(body(new Readiness("n", "decode", 0, List.of(List.of("prefill", "encode")), false)))
        .contains("\"ready\":false,\"reason\":\"no worker is live\"")
        .contains("\"needs\":[[\"prefill\",\"encode\"]]")
        .endsWith("\"present\":[],\"missing_worker_types\":[\"decode\"]}}}");
  }
}
