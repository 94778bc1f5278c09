package io.dynamo.frontend.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OtelDestinationTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpSink collector;
  private final OtelDestination destination;

  OtelDestinationTest() throws IOException {
    collector = new HttpSink();
    destination = new OtelDestination(collector.url("/v1/logs"), 1000, TestSinks.SERVERS.trace());
  }

  @AfterEach
  void close() {
    destination.close();
    collector.close();
  }

  private byte[] entry(PayloadRecord record) {
    return Objects.requireNonNull(destination.entry(record, TestSinks.json(record)));
  }

  private static String attribute(JsonNode log, String key) {
    for (var attribute : log.get("attributes")) {
      if (attribute.get("key").asText().equals(key)) {
        return attribute.get("value").properties().iterator().next().getValue().asText();
      }
    }
    return "";
  }

  @Test
  void recordsBecomeLogRecords() throws Exception {
    var record = TestSinks.payload("r-1", 10);

    int gone = destination.send(List.of(entry(record), entry(TestSinks.payload("r-2", 10_000))));

    var post = Objects.requireNonNull(collector.arrived.poll(30, TimeUnit.SECONDS));
    assertThat(gone).isZero();
    assertThat(post.path()).isEqualTo("/v1/logs");
    assertThat(post.headers())
        .containsEntry("content-type", "application/json")
        .containsEntry("authorization", "Bearer t");
    var resource = JSON.readTree(post.body()).at("/resourceLogs/0");
    assertThat(resource.at("/resource/attributes/0/value/stringValue").asText())
        .isEqualTo("dynamo-test");
    assertThat(resource.at("/scopeLogs/0/scope/name").asText()).isEqualTo("dynamo.request_trace");
    var logs = resource.at("/scopeLogs/0/logRecords");
    assertThat(logs).hasSize(2);
    var first = logs.get(0);
    assertThat(first.get("timeUnixNano").asText()).isEqualTo("1000000000");
    assertThat(first.get("severityNumber").asInt()).isEqualTo(9);
    assertThat(first.at("/body/stringValue").asText()).isEqualTo("request_payload");
    assertThat(attribute(first, "rid")).isEqualTo("r-1");
    assertThat(attribute(first, "model")).isEqualTo("tiny");
    assertThat(attribute(first, "endpoint")).isEqualTo("openai.completion");
    assertThat(attribute(first, "payload_complete")).isEqualTo("true");
    assertThat(attribute(first, "payload")).isEqualTo(new String(TestSinks.json(record), UTF_8));
    var marker = logs.get(1);
    assertThat(attribute(marker, "payload_complete")).isEqualTo("false");
    assertThat(attribute(marker, "payload_drop_reason"))
        .startsWith("otel_payload_too_large:max_bytes=1000:actual_bytes=");
    assertThat(JSON.readTree(attribute(marker, "payload")).at("/payload/request").isNull())
        .isTrue();
  }

  @Test
  void aCollectorThatRefusesIsNamedWithoutItsCredentials() {
    collector.status = 401;

    assertThatThrownBy(() -> destination.send(List.of(entry(TestSinks.payload("r", 1)))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("401")
        .hasMessageNotContaining("Bearer");
  }
}
