package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.inference.TaskOutput;
import io.dynamo.metrics.Label;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Texts of workers that take whole requests and write OpenAI's chunks, compared with requests and
 * answers captured from Dynamo.
 */
class RelayedTextTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern EVENT_END = Pattern.compile("\n\n");
  private static final List<String> SAID = List.of("Text ", "worker ", "says hi");

  private final FrontendFixture frontend = new FrontendFixture();

  @BeforeEach
  void textWorkers() {
    frontend.modelName = "textm";
    frontend.modelInput = "Text";
    frontend.modelTypes = Set.of("Chat", "Completions");
    frontend.api = TextService.CHAT;
  }

  @AfterEach
  void close() {
    assertThat(frontend.bodies.heldBytes()).isZero();
    frontend.closeIdle();
  }

  record Case(String name, JsonNode capture) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> cases() throws IOException {
    try (var in = RelayedTextTest.class.getResourceAsStream("/golden/text-worker.json")) {
      return StreamSupport.stream(JSON.readTree(in).spliterator(), false)
          .map(it -> new Case(it.get("name").asText(), it));
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void isAnsweredAsDynamoAnswersIt(Case captured) throws IOException {
    boolean chat = captured.name().startsWith("chat");
    frontend.api = chat ? TextService.CHAT : TextService.COMPLETIONS;
    frontend.taskItems = chat ? chatChunks() : completionChunks();

    var answer = frontend.post(captured.capture().at("/request/body").toString());

    var theirs = captured.capture().get("response");
    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    assertThat(JSON.valueToTree(Objects.requireNonNull(frontend.askedTask).body()).toString())
        .satisfies(
            sent ->
                assertThat(JSON.readTree(sent))
                    .isEqualTo(captured.capture().at("/worker_received/0")));
    if (theirs.has("sse")) {
      assertThat(frames(answer.text())).isEqualTo(frames(theirs.get("sse").asText()));
    } else {
      assertThat(JSON.readTree(answer.text())).isEqualTo(theirs.get("json"));
    }
  }

  private static List<Object> frames(String events) throws IOException {
    var frames = new ArrayList<Object>();
    for (var frame : EVENT_END.splitAsStream(events).toList()) {
      if (frame.startsWith("data: {")) {
        frames.add(JSON.readTree(frame.substring(6)));
      } else if (!frame.startsWith(":")) {
        frames.add(frame);
      }
    }
    return frames;
  }

  private static List<TaskOutput> chatChunks() {
    return Stream.of(
            "{'index':0,'delta':{'role':'assistant','content':'Text '}}",
            "{'index':0,'delta':{'content':'worker '},'finish_reason':null}",
            "{'index':0,'delta':{'content':'says hi'},'finish_reason':'stop'}")
        .map(
            choice ->
                item(
                    "{'id':'w','object':'chat.completion.chunk','created':1,'model':'textm','choices':[%s]}"
                        .formatted(choice)))
        .toList();
  }

  private static List<TaskOutput> completionChunks() {
    return SAID.stream()
        .map(
            text ->
                item(
                    "{'id':'w','object':'text_completion','created':1,'model':'textm','choices':[{'index':0,'text':'%s','finish_reason':%s}]}"
                        .formatted(text, text.equals(SAID.getLast()) ? "'stop'" : "null")))
        .toList();
  }

  private static TaskOutput item(String json) {
    try {
      return new TaskOutput(JSON.readValue(json.replace('\'', '"'), Object.class));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static TaskOutput chunk(String choices) {
    return item("{'choices':[" + choices + "]}");
  }

  private FrontendFixture.Recorded ask(String more) {
    return frontend.post(
        "{\"model\":\"textm\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]%s}"
            .formatted(more));
  }

  @Test
  void aWorkerMayLeaveOutWhatTheFrontendKnows() throws IOException {
    frontend.taskItems =
        List.of(chunk("{'index':0,'delta':{'content':'a'},'finish_reason':'length'}"));

    var answer = JSON.readTree(ask("").text());

    assertThat(answer.get("id").asText()).isNotEmpty();
    assertThat(answer.get("model").asText()).isEqualTo("textm");
    assertThat(answer.get("object").asText()).isEqualTo("chat.completion");
    assertThat(answer.get("created").isIntegralNumber()).isTrue();
    assertThat(answer.at("/choices/0/finish_reason").asText()).isEqualTo("length");
  }

  @Test
  void partsOfOneAnswerAreJoined() throws IOException {
    frontend.taskItems =
        List.of(
            chunk(
                "{'index':1,'delta':{'content':'b'},'logprobs':{'content':[{'token':'b'}]}},"
                    + "{'index':0,'delta':{'reasoning_content':'be','tool_calls':[{'index':0,'id':'c','function':{'name':'f','arguments':'{'}}]}}"),
            chunk(
                "{'index':0,'delta':{'reasoning_content':'cause','tool_calls':[{'index':0,'function':{'arguments':'}'}},{'index':1}]},'finish_reason':'stop'}"),
            chunk(
                "{'index':1,'delta':{'content':'c'},'logprobs':{'content':[{'token':'c'}]},'finish_reason':'stop','stop_reason':7}"),
            item(
                "{'choices':[],'usage':{'prompt_tokens':3,'completion_tokens':4,'total_tokens':7,'prompt_tokens_details':{'cached_tokens':2}}}"));

    var answer = JSON.readTree(ask(",\"n\":2").text());

    assertThat(answer.at("/choices/0/message"))
        .isEqualTo(
            JSON.readTree(
                """
                {"content":null,"reasoning_content":"because","refusal":null,"role":"assistant",
                 "tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}
                """));
    assertThat(answer.at("/choices/0/finish_reason").asText()).isEqualTo("tool_calls");
    assertThat(answer.at("/choices/1"))
        .isEqualTo(
            JSON.readTree(
                """
                {"index":1,"message":{"content":"bc","refusal":null,"role":"assistant"},"finish_reason":"stop",
                 "logprobs":{"content":[{"token":"b"},{"token":"c"}]},"stop_reason":7}
                """));
    assertThat(answer.at("/usage/total_tokens").asInt()).isEqualTo(7);
    assertThat(
            frontend
                .metrics
                .counter(FrontendMetrics.OUTPUT_TOKENS, new Label("model", "textm"))
                .value())
        .isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "7",
        "[]",
        "{'error':{'message':'no'}}",
        "{'choices':7}",
        "{'choices':[7]}",
        "{'choices':[{'index':0}]}",
        "{'choices':[{'index':0,'text':'a','finish_reason':'stop'}]}",
        "{'choices':[{'index':1,'delta':{},'finish_reason':'stop'}]}",
        "{'choices':[{'index':-1,'delta':{},'finish_reason':'stop'}]}",
        "{'choices':[{'index':4294967296,'delta':{},'finish_reason':'stop'}]}",
        "{'choices':[{'index':0,'delta':{},'finish_reason':1}]}",
        "{'choices':[{'index':0,'delta':{'content':'a'}}]}",
        "{'choices':[]}"
      })
  void nonsenseOfAWorkerIsItsFailure(String item) {
    frontend.taskItems = List.of(item(item));

    assertThat(ask("").status).isEqualTo(500);
    var streamed = ask(",\"stream\":true");
    if (streamed.events) {
      assertThat(streamed.text()).contains("\"code\":500").endsWith("data: [DONE]\n\n");
    } else {
      assertThat(streamed.status).isEqualTo(500);
    }
  }

  @Test
  void aWorkerLostAfterItsFirstChunkEndsTheStreamWithAnError() {
    frontend.taskItems = List.of(chunk("{'index':0,'delta':{'content':'a'}}"));
    frontend.taskFailure = new WorkerLostException(ErrorCode.DISCONNECTED, "gone");

    assertThat(ask("").status).isGreaterThanOrEqualTo(500);
    assertThat(ask(",\"stream\":true").text())
        .contains("\"content\":\"a\"", "\"error\"")
        .endsWith("data: [DONE]\n\n");
  }

  @Test
  void anAnswerBeyondTheMemoryOfRequestsIsRefused() {
    frontend.taskItems =
        List.of(
            new TaskOutput(
                Map.of(
                    "choices",
                    List.of(
                        Map.of(
                            "index",
                            0,
                            "delta",
                            Map.of("content", "x".repeat(1 << 20)),
                            "finish_reason",
                            "stop")))));

    assertThat(ask("").status).isEqualTo(503);
    assertThat(ask(",\"stream\":true").status).isGreaterThanOrEqualTo(500);
  }

  @Test
  void wrongRequestsAreRefusedBeforeAWorkerGetsThem() {
    assertThat(ask(",\"temperature\":9").status).isEqualTo(400);
    assertThat(frontend.askedTask).isNull();
  }

  @Test
  void otherApisSayThatTheirRequestsAreNotPassedOn() {
    for (var api : List.of(TextService.RESPONSES, TextService.MESSAGES)) {
      frontend.api = api;
      var refusal =
          frontend.post(
              "{\"model\":\"textm\",%s}"
                  .formatted(
                      api.equals(TextService.RESPONSES)
                          ? "\"input\":\"a\""
                          : "\"max_tokens\":5,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]"));
      assertThat(refusal.status).as(refusal.text()).isEqualTo(501);
      assertThat(refusal.text()).contains("textm", "/v1/chat/completions", api.endpoint());
    }
    assertThat(frontend.askedTask).isNull();
  }
}
