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

  private static Readiness.Namespace namespace(
      String name, String reason, List<String> missing, Readiness.WorkerType... types) {
    return new Readiness.Namespace(name, reason.isEmpty() ? null : reason, List.of(types), missing);
  }

  @Test
  void aServedModelReadsAsDynamosDoes() {
    var type = new Readiness.WorkerType("aggregated", 1, List.of());
    assertThat(body(new Readiness(List.of(namespace("dynamo", "", List.of(), type)))))
        .isEqualTo(
            "{\"model\":\"script\",\"ready\":true,\"namespaces\":{\"dynamo\":{\"ready\":true,"
                + "\"worker_types\":{\"aggregated\":{\"workers\":1,\"needs\":[]}},"
                + "\"present\":[\"aggregated\"],\"missing_worker_types\":[]}}}");
  }

  @Test
  void aModelWithoutAWorkerNamesTheMissingPart() {
    var type = new Readiness.WorkerType("decode", 0, List.of(List.of("prefill", "encode")));
    assertThat(
            body(
                new Readiness(
                    List.of(namespace("n", "no worker is live", List.of("decode"), type)))))
        .contains("\"ready\":false,\"reason\":\"no worker is live\"")
        .contains("\"needs\":[[\"prefill\",\"encode\"]]")
        .endsWith("\"present\":[],\"missing_worker_types\":[\"decode\"]}}}");
  }

  @Test
  void everyNamespaceAndWorkerTypeIsListed() {
    var decode = new Readiness.WorkerType("decode", 2, List.of(List.of("prefill")));
    var prefill = new Readiness.WorkerType("prefill", 1, List.of(List.of("decode")));
    assertThat(
            body(
                new Readiness(
                    List.of(
                        namespace("old", "it is not whole", List.of("prefill"), decode),
                        namespace("new", "", List.of(), prefill, decode)))))
        .isEqualTo(
            "{\"model\":\"script\",\"ready\":true,\"namespaces\":{\"old\":{\"ready\":false,"
                + "\"reason\":\"it is not whole\",\"worker_types\":{\"decode\":{\"workers\":2,"
                + "\"needs\":[[\"prefill\"]]}},\"present\":[\"decode\"],"
                + "\"missing_worker_types\":[\"prefill\"]},\"new\":{\"ready\":true,"
                + "\"worker_types\":{\"prefill\":{\"workers\":1,\"needs\":[[\"decode\"]]},"
                + "\"decode\":{\"workers\":2,\"needs\":[[\"prefill\"]]}},"
                + "\"present\":[\"prefill\",\"decode\"],\"missing_worker_types\":[]}}}");
  }
}
