package io.dynamo.frontend.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.Usage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Records beside one that Dynamo 1.6.1 wrote for a prompt of one token. */
class RequestRecordTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long ARRIVAL = 5_000_000_000L;
  private static final Placement.Worker WORKER =
      new Placement.Worker(Long.parseUnsignedLong("9645013993240242544"), 0);

  private static JsonNode captured() throws IOException {
    try (var lines =
        Objects.requireNonNull(
            RequestRecordTest.class.getResourceAsStream("/golden/request_trace.jsonl"))) {
      var last =
          new String(lines.readAllBytes(), StandardCharsets.UTF_8).lines().toList().getLast();
      return JSON.readTree(last).get("event");
    }
  }

  private static RequestRecord record(
      int[] prompt, int blockTokens, @Nullable String externalId, long firstToken, Usage usage) {
    return new RequestRecord(
        "c1df2670-6a3d-467f-a9cd-0fba25f18e3e",
        externalId,
        "tiny",
        Map.of(),
        new RequestRecord.Moments(ARRIVAL, ARRIVAL + 5_954_156, 1_795_525_095_196L),
        firstToken,
        usage,
        new Placement(
            ARRIVAL + 563_458, 0, 0, WORKER, WORKER, Placement.Prompt.of(prompt, blockTokens)));
  }

  private static ObjectNode json(RequestRecord record) throws IOException {
    var text = new ByteText(256);
    record.appendTo(text);
    return (ObjectNode) JSON.readTree(text.toByteArray());
  }

  @Test
  void recordIsDynamosWithTheModelBesides() throws IOException {
    var ours = json(record(new int[] {1633}, 64, null, 3_087_101, new Usage(1, 4, 0)));
    var theirs = captured();

    assertThat(ours.remove("event_source").asText()).isEqualTo("dynamo");
    var request = (ObjectNode) ours.get("request");
    assertThat(request.remove("model").asText()).isEqualTo("tiny");
    for (var time : List.of("avg_itl_ms", "request_received_ms")) { // theirs are rounded elsewhere
      assertThat(request.remove(time).asDouble())
          .isCloseTo(((ObjectNode) theirs.get("request")).remove(time).asDouble(), within(1.0));
    }
    assertThat(ours).isEqualTo(theirs);
  }

  @Test
  void everyPrefixOfThePromptHasAHash() {
    var ids = new int[150];
    Arrays.setAll(ids, i -> i);

    var prompt = Placement.Prompt.of(ids, 64);

    assertThat(prompt.tokens()).isEqualTo(150);
    assertThat(prompt.sequences()).hasSize(3).doesNotHaveDuplicates();
    var longer = Placement.Prompt.of(Arrays.copyOf(ids, 128), 64);
    assertThat(longer.sequences()).containsExactly(prompt.sequences()[0], prompt.sequences()[1]);
    assertThat(Placement.Prompt.of(new int[0], 64).sequences()).isEmpty();
  }

  @Test
  void answerWithoutATokenHasNoTimesOfTokens() throws IOException {
    var ours = json(record(new int[] {1, 2}, 1, "my \"id\"\n", -1, new Usage(2, 0, null)));

    var request = ours.get("request");
    assertThat(request.get("x_request_id").asText()).isEqualTo("my \"id\"\n");
    assertThat(request.has("ttft_ms")).isFalse();
    assertThat(request.has("avg_itl_ms")).isFalse();
    assertThat(request.has("cached_tokens")).isFalse();
    assertThat(request.at("/replay/input_sequence_hashes")).hasSize(2);
  }

  @Test
  void sessionIsPartOfTheRecord() throws IOException {
    var record = record(new int[] {1}, 1, null, -1, new Usage(1, 0, null));
    assertThat(json(record).has("agent_context")).isFalse();

    var session = new LinkedHashMap<String, Object>();
    session.put("session_id", "s\"1");
    session.put("session_final", true);
    var ours =
        new RequestRecord(
            record.requestId(),
            null,
            record.model(),
            session,
            record.moments(),
            -1,
            record.usage(),
            record.placement());

    assertThat(json(ours).get("agent_context"))
        .isEqualTo(JSON.readTree("{\"session_id\":\"s\\\"1\",\"session_final\":true}"));
  }
}
