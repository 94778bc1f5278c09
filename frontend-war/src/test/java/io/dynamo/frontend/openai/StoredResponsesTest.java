package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.ConversationBounds;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.config.frontend.ResponsesSettings.Storing;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.openai.FrontendFixture.Recorded;
import io.dynamo.frontend.openai.wire.ResponseItems;
import io.dynamo.frontend.responses.ResponseChain;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Responses that are stored, continued and found again. */
class StoredResponsesTest {
  private static final String ID = "resp_[0-9a-f]{32}";

  @TempDir Path folder;
  private @Nullable FrontendFixture opened;

  /** Settings of a database in {@code folder} with bounds that no test here meets. */
  static ResponsesSettings settings(Storing storing, Path folder) {
    return new ResponsesSettings(
        storing,
        null,
        null,
        null,
        folder.resolve("responses"),
        Duration.ofHours(1),
        100,
        1 << 20,
        1000,
        1 << 20,
        new ConversationBounds(100, 1 << 20));
  }

  private FrontendFixture frontend(Storing storing) {
    var known = opened;
    if (known == null) {
      known = new FrontendFixture(settings(storing, folder));
      known.api = TextService.RESPONSES;
      known.items = List.of(new EngineOutput(new int[1], "Hi", FinishReason.EOS, null, 0, null));
      opened = known;
    }
    return known;
  }

  private FrontendFixture frontend() {
    return frontend(Storing.ON_REQUEST);
  }

  @AfterEach
  void close() {
    if (opened != null) {
      opened.closeIdle();
    }
  }

  private Recorded post(String input, String more) {
    return frontend().post("{\"model\":\"script\",\"input\":%s%s}".formatted(input, more));
  }

  private JsonNode ask(String input, String more) throws IOException {
    var answer = post(input, more);
    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    return answer.events
        ? PlayedScript.events(answer.text()).getLast().get("response")
        : PlayedScript.JSON.readTree(answer.text());
  }

  private @Nullable JsonNode found(String id) throws IOException, InterruptedException {
    var stored = frontend().stored.find(id, Deadline.after(Duration.ofSeconds(30)), _ -> {});
    return stored.isEmpty() ? null : PlayedScript.JSON.readTree(stored.get().answer());
  }

  private static String previous(JsonNode response) {
    return ",\"previous_response_id\":\"" + response.get("id").asText() + "\"";
  }

  private List<Object> conversation() {
    return Objects.requireNonNull(frontend().prompt).messages().stream()
        .map(it -> (Object) (it.get("role") + ": " + it.get("content")))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"stream\":true"})
  void storedResponseIsFoundAsItWasSent(String more) throws Exception {
    var sent = ask("\"hello\"", ",\"store\":true" + more);

    assertThat(sent.get("id").asText()).matches(ID);
    assertThat(sent.get("store").asBoolean()).isTrue();
    assertThat(found(sent.get("id").asText())).isEqualTo(sent);
  }

  @Test
  void idsAreNotThoseOfTheRequest() throws Exception {
    var id = "00000000-0000-4000-8000-000000000001";
    var answer =
        frontend()
            .post(
                "{\"model\":\"script\",\"input\":\"hi\",\"store\":true}"
                    .getBytes(StandardCharsets.UTF_8),
                Map.of("x-request-id", id));

    assertThat(PlayedScript.JSON.readTree(answer.text()).get("id").asText())
        .matches(ID)
        .doesNotContain(id.replace("-", ""));
  }

  @Test
  void onlyWhatTheRequestWantsStoredIsStored() throws Exception {
    for (var more : List.of("", ",\"store\":false", ",\"store\":null")) {
      var sent = ask("\"hello\"", more);
      assertThat(sent.get("store").asBoolean()).isFalse();
      assertThat(found(sent.get("id").asText())).isNull();
    }
  }

  @Test
  void byDefaultAllButTheUnwantedIsStored() throws Exception {
    frontend(Storing.BY_DEFAULT);

    assertThat(found(ask("\"hello\"", "").get("id").asText())).isNotNull();
    assertThat(found(ask("\"hello\"", ",\"store\":false").get("id").asText())).isNull();
  }

  @Test
  void continuationSeesAllTurnsBeforeButNotTheirInstructions() throws Exception {
    var first = ask("\"one\"", ",\"store\":true,\"instructions\":\"be brief\"");
    var second =
        ask("[{\"role\":\"user\",\"content\":\"two\"}]", ",\"store\":true" + previous(first));
    var third = ask("\"three\"", previous(second) + ",\"instructions\":\"be long\"");

    assertThat(conversation())
        .containsExactly(
            "system: be long",
            "user: one",
            "assistant: Hi",
            "user: two",
            "assistant: Hi",
            "user: three");
    assertThat(third.get("previous_response_id")).isEqualTo(second.get("id"));
    assertThat(third.get("store").asBoolean()).isFalse();
  }

  @Test
  void toolCallsAreContinuedByTheirOutputAlone() throws Exception {
    frontend().runtimeConfig = Map.of("tool_call_parser", "hermes");
    frontend().items =
        List.of(
            new EngineOutput(
                new int[1],
                "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":1}}\n</tool_call>",
                FinishReason.EOS,
                null,
                0,
                null));
    var tools = ",\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"parameters\":{}}]";
    var called = ask("\"call f\"", ",\"store\":true" + tools);
    var call = called.at("/output/0/call_id").asText();

    ask(
        "[{\"type\":\"function_call_output\",\"call_id\":\"%s\",\"output\":\"7\"}]".formatted(call),
        previous(called) + tools);

    var prompt = Objects.requireNonNull(frontend().prompt).messages();
    assertThat(prompt.stream().map(it -> it.get("role")))
        .containsExactly("user", "assistant", "tool");
    assertThat(String.valueOf(prompt.get(1).get("tool_calls"))).contains(call);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"resp_00000000000000000000000000000000", "resp_1", "' OR ''='", "../x", ""})
  void unknownPreviousResponseIsRefusedByName(String id) {
    var answer = post("\"hi\"", ",\"previous_response_id\":\"" + id + "\"");

    assertThat(answer.status).isEqualTo(400);
    assertThat(answer.text())
        .contains("previous_response_not_found", "\"param\":\"previous_response_id\"");
  }

  @Test
  void previousResponseIdMustBeAString() {
    assertThat(post("\"hi\"", ",\"previous_response_id\":7").status).isEqualTo(400);
  }

  @Test
  void deletedResponseCannotBeContinued() throws Exception {
    var first = ask("\"one\"", ",\"store\":true");
    var id = first.get("id").asText();

    assertThat(frontend().stored.delete(id, Deadline.after(Duration.ofSeconds(30)))).isTrue();

    assertThat(post("\"two\"", previous(first)).status).isEqualTo(400);
    assertThat(found(id)).isNull();
  }

  @Test
  void incompleteResponseIsStored() throws Exception {
    frontend().items =
        List.of(new EngineOutput(new int[1], "Hi", FinishReason.LENGTH, null, 0, null));

    var sent = ask("\"hello\"", ",\"store\":true");

    assertThat(Objects.requireNonNull(found(sent.get("id").asText())).get("status").asText())
        .isEqualTo("incomplete");
  }

  @Test
  void failedStreamIsNotStored() throws Exception {
    frontend().items = List.of(new EngineOutput(new int[1], "Hi", null, null, 0, null));
    frontend().failure = new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "broken", null);

    var sent = ask("\"hello\"", ",\"store\":true,\"stream\":true");

    assertThat(sent.get("status").asText()).isEqualTo("failed");
    assertThat(found(sent.get("id").asText())).isNull();
  }

  @Test
  void abandonedStreamIsNotStored() throws Exception {
    var answer = new Recorded();
    answer.wire =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            answer.body.write(b);
            throw new IOException("gone");
          }

          @Override
          public void write(byte[] bytes, int from, int count) throws IOException {
            answer.body.write(bytes, from, count);
            throw new IOException("gone");
          }
        };
    frontend().endless = true;
    frontend().items = List.of(new EngineOutput(new int[1], "Hi", null, null, 0, null));

    frontend()
        .post(
            "{\"model\":\"script\",\"input\":\"hi\",\"store\":true,\"stream\":true}"
                .getBytes(StandardCharsets.UTF_8),
            Map.of(),
            answer);

    var begun = PlayedScript.events(answer.text()).getFirst();
    assertThat(found(begun.at("/response/id").asText())).isNull();
  }

  @Test
  void inputTooLongToBeStoredIsRefusedBeforeAnythingIsGenerated() {
    var answer = post("\"" + "x".repeat(1000) + "\"", ",\"store\":true");

    assertThat(answer.status).isEqualTo(400);
    assertThat(answer.text()).contains("dynamo.frontend.responses.max-input 1000");
    assertThat(frontend().asked).isNull();
  }

  @Test
  void inputTooLongToBeStoredUnaskedIsServedAndTheAnswerSaysSo() throws Exception {
    frontend(Storing.BY_DEFAULT);

    var sent = ask("\"" + "x".repeat(1000) + "\"", "");

    assertThat(sent.get("store").asBoolean()).isFalse();
  }

  @Test
  void conversationLongerThanABodyIsRefused() throws Exception {
    var last = ask("\"" + "x".repeat(800) + "\"", ",\"store\":true");
    int turns = 1;
    Recorded answer;
    do {
      assertThat(turns++).isLessThan(10);
      answer = post("\"" + "x".repeat(800) + "\"", ",\"store\":true" + previous(last));
      last = answer.status == 200 ? PlayedScript.JSON.readTree(answer.text()) : last;
    } while (answer.status == 200);

    assertThat(answer.status).isEqualTo(400);
    assertThat(answer.text()).contains("conversation_too_long", "4096 bytes");
  }

  @Test
  void tokensOfAContinuedConversationAreCounted() throws Exception {
    var first = ask("\"one\"", ",\"store\":true");
    frontend().api = TextService.RESPONSES_COUNT;

    ask("\"two\"", previous(first));

    assertThat(conversation()).containsExactly("user: one", "assistant: Hi", "user: two");
  }

  @Test
  void inputItemsAreListedInPages() throws Exception {
    var first = ask("\"one\"", ",\"store\":true");
    var second = ask("\"two\"", ",\"store\":true" + previous(first));
    var conversation =
        frontend()
            .stored
            .chain(
                second.get("id").asText(),
                1 << 20,
                Deadline.after(Duration.ofSeconds(30)),
                _ -> {});
    var turns = ((ResponseChain.Complete) conversation).turns();

    var whole =
        PlayedScript.JSON.readTree(
            ResponseItems.page(turns, ResponseItems.Page.of(null, null, "asc")));
    assertThat(whole.get("data"))
        .extracting(it -> it.at("/content/0/text").asText())
        .containsExactly("one", "Hi", "two");
    assertThat(whole.get("has_more").asBoolean()).isFalse();
    assertThat(whole.get("data")).allSatisfy(it -> assertThat(it.get("id").asText()).isNotEmpty());

    var newest =
        PlayedScript.JSON.readTree(
            ResponseItems.page(turns, ResponseItems.Page.of(null, "2", null)));
    assertThat(newest.get("has_more").asBoolean()).isTrue();
    assertThat(newest.get("first_id")).isEqualTo(whole.at("/data/2/id"));
    var rest =
        PlayedScript.JSON.readTree(
            ResponseItems.page(
                turns, ResponseItems.Page.of(newest.get("last_id").asText(), "2", null)));
    assertThat(rest.get("data")).hasSize(1);
    assertThat(rest.get("has_more").asBoolean()).isFalse();
  }

  @Test
  void copyOfTheInputIsChargedWhileTheRequestRuns() throws Exception {
    var held = new ArrayList<Long>();
    frontend().whileRendering = () -> held.add(frontend().bodies.heldBytes());

    for (var more : List.of(",\"store\":true", "")) {
      post("\"" + "x".repeat(800) + "\"", more);
    }

    assertThat(held.get(0) - held.get(1)).isGreaterThan(800);
  }
}
