package io.dynamo.frontend.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.frontend.sse.ByteText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Reads reports that Dynamo 1.6.1 was sent, and compares with what it recorded of them. */
class ToolEventsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String TOPIC = "agent-tool-events";

  private final List<ToolRecord> records = new ArrayList<>();
  private final ToolEvents events = new ToolEvents(TOPIC, records::add);

  static List<JsonNode> captured() throws IOException {
    try (var lines =
        Objects.requireNonNull(
            ToolEventsTest.class.getResourceAsStream("/golden/tool_reports.jsonl"))) {
      var captured = new ArrayList<JsonNode>();
      for (var line : new String(lines.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
        captured.add(JSON.readTree(line));
      }
      return captured;
    }
  }

  private static byte[] report(JsonNode captured) {
    return HexFormat.of().parseHex(captured.get("report").asText());
  }

  private static byte[][] frames(String topic, byte[] report) {
    return new byte[][] {topic.getBytes(StandardCharsets.UTF_8), new byte[8], report};
  }

  @ParameterizedTest
  @MethodSource("captured")
  void reportsAreRecordedOrRefusedAsDynamoDoes(JsonNode captured) throws IOException {
    var frames = frames(TOPIC, report(captured));
    if (captured.get("record").isNull()) {
      assertThatThrownBy(() -> events.message(frames)).isInstanceOf(IOException.class);
      assertThat(records).isEmpty();
      return;
    }

    events.message(frames);

    var line = new ByteText(256);
    records.getFirst().appendTo(line);
    assertThat(JSON.readTree(line.toByteArray())).isEqualTo(captured.get("record"));
    assertThat(records.getFirst().bytes()).isGreaterThan(500);
  }

  @Test
  void reportsOfOtherTopicsAreNotTaken() throws IOException {
    events.message(frames("other", report(captured().getFirst())));
    events.message(frames("", new byte[] {(byte) 0xc1}));

    assertThat(records).isEmpty();
  }

  @Test
  void everyCutReportIsRefused() throws IOException {
    var report = report(captured().get(1));
    for (int length = 0; length < report.length; length++) {
      var frames = frames(TOPIC, Arrays.copyOf(report, length));
      assertThatThrownBy(() -> events.message(frames)).isInstanceOf(IOException.class);
    }
    assertThatThrownBy(
            () -> events.message(frames(TOPIC, Arrays.copyOf(report, report.length + 1))))
        .isInstanceOf(IOException.class);
    assertThat(records).isEmpty();
  }

  @Test
  void textsOfReportsAreBounded() throws IOException {
    var text = new String(report(captured().get(1)), StandardCharsets.ISO_8859_1);
    var id = "\u00a6call-1"; // a text of six bytes
    assertThat(text).contains(id);
    var longer = text.replace(id, "\u00da\u0004\u0001" + "x".repeat(1025));
    assertThatThrownBy(
            () -> events.message(frames(TOPIC, longer.getBytes(StandardCharsets.ISO_8859_1))))
        .hasMessageContaining("tool_call_id");
  }
}
