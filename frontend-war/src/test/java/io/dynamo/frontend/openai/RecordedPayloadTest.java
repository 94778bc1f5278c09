package io.dynamo.frontend.openai;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.config.frontend.ResponsesSettings.Storing;
import io.dynamo.config.watch.RequestTraceSettings;
import io.dynamo.config.watch.RequestTraceSettings.FileFormat;
import io.dynamo.config.watch.RequestTraceSettings.Kind;
import io.dynamo.config.watch.RequestTraceSettings.Sink;
import io.dynamo.frontend.openai.FrontendFixture.Recorded;
import io.dynamo.frontend.record.RequestRecords;
import io.dynamo.frontend.record.TestSinks;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Records of requests and their answers, held against those of Dynamo 1.6.1. */
class RecordedPayloadTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Map<String, String> HEADERS =
      Map.of("user-agent", "curl/7.88.1", "x-team", "blue", "authorization", "Bearer secret");

  @TempDir Path folder;
  private int requests;

  private List<JsonNode> records(Api api, String body, Recorded answer, List<EngineOutput> items)
      throws IOException {
    return records(api, body, answer, items, 1 << 20);
  }

  /** The records that one request leaves. */
  private List<JsonNode> records(
      Api api, String body, Recorded answer, List<EngineOutput> items, int most)
      throws IOException {
    var own = folder.resolve(Integer.toString(++requests));
    var settings =
        new RequestTraceSettings(
            Set.of(Kind.REQUEST_PAYLOAD),
            Set.of(Sink.FILE),
            own.resolve("trace"),
            FileFormat.JSONL,
            Duration.ofSeconds(1),
            1 << 20,
            null,
            10,
            10,
            Set.of("user-agent", "x-team", "authorization"),
            most,
            TestSinks.SETTINGS,
            null);
    try (var records = RequestRecords.open(settings, TestSinks.SERVERS, new Metrics())) {
      var frontend =
          new FrontendFixture(StoredResponsesTest.settings(Storing.ON_REQUEST, folder), records);
      frontend.api = api;
      frontend.items = items;
      frontend.post(body.getBytes(UTF_8), HEADERS, answer);
      frontend.closeIdle();
    }
    if (Files.notExists(own)) {
      return List.of();
    }
    try (var files = Files.list(own)) {
      return Files.readAllLines(files.findFirst().orElseThrow()).stream()
          .map(RecordedPayloadTest::event)
          .toList();
    }
  }

  private static JsonNode event(String line) {
    try {
      return JSON.readTree(line).get("event");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static List<EngineOutput> said(String text) {
    return List.of(
        new EngineOutput(new int[] {1, 2}, text, null, null, 0, null),
        new EngineOutput(new int[] {3}, "!", FinishReason.LENGTH, null, 0, null));
  }

  private static ObjectNode captured(String name) throws IOException {
    try (var in =
        Objects.requireNonNull(
            RequestRecords.class.getResourceAsStream("/golden/request_payload.jsonl"))) {
      for (var line : new String(in.readAllBytes(), UTF_8).lines().toList()) {
        var one = JSON.readTree(line);
        if (one.get("name").asText().equals(name)) {
          return (ObjectNode) one.get("record");
        }
      }
    }
    throw new AssertionError("no capture " + name);
  }

  /** Sets what must differ between two records: ids, times, texts and their numbers of tokens. */
  private static JsonNode comparable(JsonNode record) {
    var own = (ObjectNode) record.deepCopy();
    own.put("event_time_unix_ms", 0);
    var payload = (ObjectNode) own.get("payload");
    payload.put("request_id", "id");
    if (payload.has("response")) {
      var response = (ObjectNode) payload.get("response");
      response.put("id", "id").put("created", 0).remove("usage");
      ((ObjectNode) response.at("/choices/0/message")).put("content", "text");
    }
    return own;
  }

  @ParameterizedTest
  @CsvSource({"whole", "stream", "stream with usage"})
  void aChatIsRecordedAsByDynamo(String name) throws IOException {
    var theirs = captured(name);
    var request = (ObjectNode) theirs.at("/payload/request");
    if (request.at("/stream_options/continuous_usage_stats").isBoolean()) {
      ((ObjectNode) request.get("stream_options")).remove("continuous_usage_stats");
    }
    request.put("model", "script");
    ((ObjectNode) theirs.get("payload")).put("model", "script");
    ((ObjectNode) theirs.at("/payload/response")).put("model", "script");
    ((ObjectNode) theirs.at("/payload/http_request_headers")).put("authorization", "[masked]");

    var records = records(TextService.CHAT, request.toString(), new Recorded(), said("Hi"));

    assertThat(records).hasSize(1);
    var ours = records.getFirst();
    assertThat(comparable(ours)).isEqualTo(comparable(theirs));
    assertThat(ours.at("/payload/response/choices/0/message/content").asText()).isEqualTo("Hi!");
    assertThat(ours.at("/payload/response/usage/completion_tokens").asInt()).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"stream\":true"})
  void anAnswerIsRecordedInTheFormOfItsApi(String stream) throws IOException {
    var completion =
        only(TextService.COMPLETIONS, "{\"model\":\"script\",\"prompt\":\"hello\"%s}", stream);
    assertThat(completion.get("endpoint").asText()).isEqualTo("openai.completion");
    assertThat(completion.at("/response/choices/0/text").asText()).isEqualTo("Hi!");

    var message =
        only(
            TextService.MESSAGES,
            "{\"model\":\"script\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]%s}",
            stream);
    assertThat(message.get("endpoint").asText()).isEqualTo("anthropic.message");
    assertThat(message.at("/response/content/0/text").asText()).isEqualTo("Hi!");
    assertThat(message.at("/response/stop_reason").asText()).isEqualTo("max_tokens");
  }

  private JsonNode only(Api api, String body, String stream) throws IOException {
    var records = records(api, body.formatted(stream), new Recorded(), said("Hi"));
    var newest = records.getLast().get("payload");
    assertThat(newest.get("payload_complete").asBoolean()).isTrue();
    assertThat(newest.get("request").get("model").asText()).isEqualTo("script");
    return newest;
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"stream\":true"})
  void aStoredResponseIsRecordedUnderItsId(String stream) throws IOException {
    var answer = new Recorded();
    var records =
        records(
            TextService.RESPONSES,
            "{\"model\":\"script\",\"input\":\"hello\",\"store\":true%s}".formatted(stream),
            answer,
            said("Hi"));

    var sent =
        answer.events
            ? PlayedScript.events(answer.text()).getLast().get("response")
            : JSON.readTree(answer.text());
    var recorded = records.getFirst().at("/payload/response");
    assertThat(recorded.get("id")).isEqualTo(sent.get("id"));
    assertThat(recorded.at("/output/0/content")).isEqualTo(sent.at("/output/0/content"));
  }

  @Test
  void ofAClientThatLeftTheRequestIsRecorded() throws IOException {
    var answer = new Recorded();
    answer.wire =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };

    var payload =
        records(TextService.CHAT, chat("hello", ",\"stream\":true"), answer, said("Hi"))
            .getFirst()
            .get("payload");

    var theirs = captured("client left").get("payload");
    assertThat(payload.has("response")).isFalse();
    assertThat(payload.get("payload_complete")).isEqualTo(theirs.get("payload_complete"));
    assertThat(payload.get("payload_drop_reason")).isEqualTo(theirs.get("payload_drop_reason"));
    assertThat(payload.at("/request/messages/0/content").asText()).isEqualTo("hello");
  }

  @Test
  void aRequestThatIsRefusedLeavesNoRecord() throws IOException {
    assertThat(records(TextService.CHAT, chat("hello", ",\"n\":-1"), new Recorded(), said("Hi")))
        .isEmpty();
  }

  @Test
  void anAnswerAboveTheBoundIsLeftOut() throws IOException {
    for (var stream : List.of("", ",\"stream\":true")) {
      var payload =
          records(
                  TextService.CHAT,
                  chat("hello", stream),
                  new Recorded(),
                  said("x".repeat(2000)),
                  1000)
              .getLast()
              .get("payload");

      assertThat(payload.has("response")).isFalse();
      assertThat(payload.get("payload_drop_reason").asText()).isEqualTo("too_large");
      assertThat(payload.at("/request/messages")).hasSize(1);
    }
  }

  @Test
  void anEchoedPromptAboveTheBoundIsLeftOut() throws IOException {
    var body =
        "{\"model\":\"script\",\"prompt\":\"%s\",\"echo\":true,\"stream\":true,\"n\":2}"
            .formatted("x".repeat(800));

    var payload =
        records(TextService.COMPLETIONS, body, new Recorded(), said("Hi"), 1000)
            .getFirst()
            .get("payload");

    assertThat(payload.has("response")).isFalse();
    assertThat(payload.get("payload_drop_reason").asText()).isEqualTo("too_large");
    assertThat(payload.at("/request/echo").asBoolean()).isTrue();
  }

  @Test
  void aRequestAboveTheBoundIsLeftOut() throws IOException {
    var payload =
        records(TextService.CHAT, chat("x".repeat(2000), ""), new Recorded(), said("Hi"), 1000)
            .getFirst()
            .get("payload");

    assertThat(payload.get("request").isNull()).isTrue();
    assertThat(payload.get("payload_complete").asBoolean()).isFalse();
    assertThat(payload.at("/response/object").asText()).isEqualTo("chat.completion");
  }

  private static String chat(String text, String more) {
    return "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]%s}"
        .formatted(text, more);
  }
}
