package io.dynamo.frontend.openai;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.ConversationBounds;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.config.frontend.ResponsesSettings.Storing;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.openai.FrontendFixture.Recorded;
import io.dynamo.frontend.openai.wire.ConversationRequest;
import io.dynamo.frontend.openai.wire.JsonBody;
import io.dynamo.frontend.openai.wire.ResponseItems;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Conversations that requests for responses continue and add to. */
class ConversationsTest {
  private static final String HELLO =
      "{\"items\":[{\"role\":\"user\",\"content\":\"hello\"},{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"welcome\"}],\"metadata\":{\"a\":\"b\"}}";

  @TempDir Path folder;
  private @Nullable FrontendFixture opened;

  private FrontendFixture frontend() {
    return frontend(Storing.ON_REQUEST);
  }

  private FrontendFixture frontend(Storing storing) {
    var known = opened;
    if (known == null) {
      known =
          new FrontendFixture(
              new ResponsesSettings(
                  storing,
                  null,
                  null,
                  null,
                  folder.resolve("responses"),
                  Duration.ofHours(1),
                  100,
                  1 << 20,
                  2000,
                  1 << 20,
                  new ConversationBounds(100, 1 << 20)));
      known.api = TextService.RESPONSES;
      known.items = List.of(new EngineOutput(new int[1], "Hi", FinishReason.EOS, null, 0, null));
      opened = known;
    }
    return known;
  }

  @AfterEach
  void close() {
    if (opened != null) {
      opened.closeIdle();
    }
  }

  private ConversationAnswers answers() {
    InstantSource clock = () -> Instant.ofEpochSecond(frontend().createdSeconds);
    return new ConversationAnswers(frontend().stored, clock, 4096);
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(30));
  }

  private static ConversationRequest request(ConversationRequest.Kind kind, String json) {
    return ConversationRequest.read(JsonBody.parse(json.getBytes(UTF_8)), kind);
  }

  private static JsonNode tree(byte[] json) throws IOException {
    return PlayedScript.JSON.readTree(json);
  }

  private String created(String json) throws Exception {
    return tree(answers().create(request(ConversationRequest.Kind.CREATION, json), soon()))
        .get("id")
        .asText();
  }

  private Recorded post(String input, String more) {
    return frontend().post("{\"model\":\"script\",\"input\":%s%s}".formatted(input, more));
  }

  private JsonNode ask(String input, String conversation, String more) throws IOException {
    var answer = post(input, ",\"conversation\":\"" + conversation + "\"" + more);
    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    return answer.events
        ? PlayedScript.events(answer.text()).getLast().get("response")
        : PlayedScript.JSON.readTree(answer.text());
  }

  private List<Object> prompt() {
    return Objects.requireNonNull(frontend().prompt).messages().stream()
        .map(it -> (Object) (it.get("role") + ": " + it.get("content")))
        .toList();
  }

  private JsonNode items(String id, @Nullable String after, @Nullable String limit)
      throws Exception {
    try (var share = frontend().bodies.open()) {
      return tree(answers().items(id, ResponseItems.Page.of(after, limit, "asc"), soon(), share));
    }
  }

  private List<String> texts(String id) throws Exception {
    return items(id, null, null)
        .get("data")
        .valueStream()
        .map(it -> it.get("role").asText() + ": " + it.at("/content/0/text").asText())
        .toList();
  }

  @Test
  void createdConversationHasItsItemsInTheFormOfTheApi() throws Exception {
    var id = created(HELLO);

    var found = tree(answers().conversation(id, soon()));
    assertThat(found.get("object").asText()).isEqualTo("conversation");
    assertThat(found.get("created_at").asLong()).isEqualTo(frontend().createdSeconds);
    assertThat(found.at("/metadata/a").asText()).isEqualTo("b");
    var data = items(id, null, null).get("data");
    assertThat(data).hasSize(2);
    assertThat(data.get(0).get("id").asText()).startsWith("msg_");
    assertThat(data.get(0).get("status").asText()).isEqualTo("completed");
    assertThat(data.get(0).at("/content/0/type").asText()).isEqualTo("input_text");
    assertThat(data.get(1).at("/content/0/type").asText()).isEqualTo("output_text");
    assertThat(texts(id)).containsExactly("user: hello", "assistant: welcome");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"stream\":true", ",\"store\":true", ",\"store\":false"})
  void answersAreAddedAndSeenByTheNextRequest(String more) throws Exception {
    var id = created(HELLO);

    var first = ask("\"one\"", id, more);
    assertThat(prompt()).containsExactly("user: hello", "assistant: welcome", "user: one");
    ask("[{\"role\":\"user\",\"content\":\"two\"}]", id, more);

    assertThat(prompt())
        .containsExactly(
            "user: hello", "assistant: welcome", "user: one", "assistant: Hi", "user: two");
    assertThat(first.at("/conversation/id").asText()).isEqualTo(id);
    assertThat(first.get("store").asBoolean()).isEqualTo(more.contains("\"store\":true"));
    assertThat(texts(id))
        .containsExactly(
            "user: hello",
            "assistant: welcome",
            "user: one",
            "assistant: Hi",
            "user: two",
            "assistant: Hi");
    assertThat(frontend().stored.find(first.get("id").asText(), soon(), _ -> {}).isPresent())
        .isEqualTo(more.contains("\"store\":true"));
  }

  @Test
  void conversationIsNamedByAnObjectToo() throws Exception {
    var id = created("{}");

    var answer = post("\"one\"", ",\"conversation\":{\"id\":\"" + id + "\"}");

    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    assertThat(texts(id)).containsExactly("user: one", "assistant: Hi");
  }

  @Test
  void failedAnswerAddsNothing() throws Exception {
    var id = created(HELLO);
    frontend().items = List.of(new EngineOutput(new int[1], "Hi", null, null, 0, null));
    frontend().failure = new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "broken", null);

    var sent = ask("\"one\"", id, ",\"stream\":true");

    assertThat(sent.get("status").asText()).isEqualTo("failed");
    assertThat(texts(id)).hasSize(2);
  }

  @Test
  void countOfTokensAddsNothing() throws Exception {
    var id = created(HELLO);
    frontend().api = TextService.RESPONSES_COUNT;

    ask("\"one\"", id, "");

    assertThat(prompt()).hasSize(3);
    assertThat(texts(id)).hasSize(2);
  }

  @Test
  void responseOfAConversationIsNotContinuedWithoutIt() throws Exception {
    var id = created(HELLO);
    var first = ask("\"one\"", id, ",\"store\":true");

    var answer = post("\"two\"", ",\"previous_response_id\":\"" + first.get("id").asText() + "\"");

    assertThat(answer.status).isEqualTo(400);
    assertThat(answer.text()).contains("response_in_conversation", id);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "404 | conversation_not_found | ,'conversation':'conv_00000000000000000000000000000000'",
        "404 | conversation_not_found | ,'conversation':'no'",
        "404 | conversation_not_found | ,'conversation':{'id':'no'}",
        "400 | exclude each other | ,'conversation':'no','previous_response_id':'no'",
        "400 | conversation | ,'conversation':7",
        "400 | unknown field | ,'conversation':{'id':'no','x':1}",
        "400 | missing field | ,'conversation':{}",
      })
  void badConversationIsRefused(int status, String message, String more) {
    var answer = post("\"one\"", more.replace('\'', '"'));

    assertThat(answer.status).as(answer.text()).isEqualTo(status);
    assertThat(answer.text()).contains(message);
    assertThat(frontend().asked).isNull();
  }

  @Test
  void nothingIsContinuedWhereNothingIsStored() {
    frontend(Storing.OFF);

    assertThat(post("\"one\"", ",\"conversation\":\"conv_1\"").status).isEqualTo(501);
  }

  @Test
  void inputTooLongToBeKeptIsRefusedBeforeAnythingIsGenerated() throws Exception {
    var id = created("{}");

    var answer = post("\"" + "x".repeat(2000) + "\"", ",\"conversation\":\"" + id + "\"");

    assertThat(answer.status).isEqualTo(400);
    assertThat(answer.text()).contains("dynamo.frontend.responses.max-input 2000");
    assertThat(frontend().asked).isNull();
  }

  @Test
  void itemsAreAddedReadAndDeleted() throws Exception {
    var id = created("{}");
    var added =
        tree(
            answers()
                .add(
                    id,
                    request(
                        ConversationRequest.Kind.ADDITION,
                        "{\"items\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\",\"content\":\"b\"}]}"),
                    soon()));
    assertThat(added.get("data")).hasSize(2);
    var second = added.at("/data/1/id").asText();
    assertThat(added.get("last_id").asText()).isEqualTo(second);
    ask("\"c\"", id, "");

    try (var share = frontend().bodies.open()) {
      assertThat(tree(answers().item(id, second, soon(), share))).isEqualTo(added.at("/data/1"));
      var rest = tree(answers().deleteItem(id, second, soon(), share));
      assertThat(rest.get("id").asText()).isEqualTo(id);
      assertThatThrownBy(() -> answers().item(id, second, soon(), share))
          .asInstanceOf(type(ApiException.class))
          .satisfies(it -> assertThat(it.error().status()).isEqualTo(404));
      assertThatThrownBy(() -> answers().deleteItem(id, second, soon(), share))
          .isInstanceOf(ApiException.class);
    }
    assertThat(texts(id)).containsExactly("user: a", "user: c", "assistant: Hi");
    var page = items(id, null, "2");
    assertThat(page.get("has_more").asBoolean()).isTrue();
    assertThat(items(id, page.get("last_id").asText(), "2").get("data")).hasSize(1);
  }

  @Test
  void deletedConversationIsGone() throws Exception {
    var id = created(HELLO);

    var deleted = tree(answers().delete(id, soon()));

    assertThat(deleted.get("object").asText()).isEqualTo("conversation.deleted");
    assertThatThrownBy(() -> answers().conversation(id, soon())).isInstanceOf(ApiException.class);
    assertThat(post("\"one\"", ",\"conversation\":\"" + id + "\"").status).isEqualTo(404);
  }

  @Test
  void metadataIsChanged() throws Exception {
    var id = created(HELLO);

    var changed =
        tree(
            answers()
                .change(
                    id,
                    request(ConversationRequest.Kind.CHANGE, "{\"metadata\":{\"c\":\"d\"}}"),
                    soon()));

    assertThat(changed.get("metadata").toString()).isEqualTo("{\"c\":\"d\"}");
  }

  @Test
  void conversationLongerThanABodyIsRefused() throws Exception {
    var id = created("{}");
    int status;
    int turns = 0;
    Recorded answer;
    do {
      assertThat(turns++).isLessThan(10);
      answer = post("\"" + "x".repeat(800) + "\"", ",\"conversation\":\"" + id + "\"");
      status = answer.status;
    } while (status == 200);

    assertThat(status).isEqualTo(400);
    assertThat(answer.text()).contains("conversation_too_long", "4096 bytes");
    assertThat(turns).isGreaterThan(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "CREATION | {'x':1} | unknown field",
        "CREATION | [] | invalid type",
        "CREATION | {'items':7} | items",
        "CREATION | {'items':[7]} | items[0]",
        "CREATION | {'items':[{'role':'user'}]} | content",
        "CREATION | {'items':[{'type':'input_file','file_id':'f'}]} | not supported",
        "CREATION | {'metadata':{'a':1}} | metadata",
        "CREATION | {'metadata':'a'} | metadata",
        "CHANGE | {} | metadata",
        "CHANGE | {'metadata':{},'items':[]} | unknown field",
        "ADDITION | {} | items",
        "ADDITION | {'items':[]} | 1 to 20",
      })
  void badRequestIsRefused(ConversationRequest.Kind kind, String json, String message) {
    assertThatThrownBy(() -> request(kind, json.replace('\'', '"')))
        .asInstanceOf(type(ApiException.class))
        .satisfies(
            it -> {
              assertThat(it.error().status()).isEqualTo(400);
              assertThat(it.error().message()).contains(message);
            });
  }

  @Test
  void tooManyItemsAtOnceAreRefused() {
    var items = "{\"role\":\"user\",\"content\":\"a\"},".repeat(21);

    assertThatThrownBy(
            () ->
                request(
                    ConversationRequest.Kind.CREATION,
                    "{\"items\":[" + items.substring(0, items.length() - 1) + "]}"))
        .hasMessageContaining("21 items");
  }
}
