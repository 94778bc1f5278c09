package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.openai.wire.TaskRequest;
import io.dynamo.inference.BodyTask;
import io.dynamo.inference.TaskOutput;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Reranking, classification and pooling, compared with requests and answers captured from Dynamo.
 */
class TasksGoldenTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SHAPE = "Failed to deserialize the JSON body into the target type: ";
  private static final Map<String, Api> APIS =
      Map.of(
          "rerank", TextService.RERANK,
          "classify", TextService.CLASSIFY,
          "pooling", TextService.POOLING);
  private static final Map<String, String> TYPES =
      Map.of("rerank", "Rerank", "classify", "Classify", "pooling", "Pooling");

  /** Answered here where Dynamo fails: its worker gave base64 without a shape. */
  private static final Set<String> BETTER = Set.of("bytes", "embed_dtype");

  private static final Map<String, Object> POOLED =
      Map.of(
          "id",
          "pool-ü",
          "created",
          1,
          "model",
          "pooling",
          "data",
          List.of(Map.of("index", 0, "data", "AAAAPwAAgL4=")),
          "usage",
          Map.of("prompt_tokens", 3));

  private final FrontendFixture frontend = new FrontendFixture();

  @BeforeEach
  void textWorkers() {
    frontend.modelInput = "Text";
  }

  @AfterEach
  void close() {
    assertThat(frontend.bodies.heldBytes()).isZero();
    frontend.closeIdle();
  }

  record Case(String api, String name, JsonNode capture) {
    @Override
    public String toString() {
      return api + " " + name;
    }

    ObjectNode body() {
      var body = (ObjectNode) capture.get("request").get("body").deepCopy();
      if (body.get("model").asText().equals(api)) {
        body.put("model", "script");
      }
      return body;
    }
  }

  static Stream<Case> cases() {
    return APIS.keySet().stream().sorted().flatMap(TasksGoldenTest::cases);
  }

  private static Stream<Case> cases(String api) {
    try (var in = TasksGoldenTest.class.getResourceAsStream("/golden/" + api + ".json")) {
      return StreamSupport.stream(JSON.readTree(in).spliterator(), false)
          .map(it -> new Case(api, it.get("name").asText(), it));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void isAnsweredAsDynamoAnswersIt(Case captured) throws IOException {
    open(captured.api());
    var theirs = captured.capture().get("response");
    boolean binary = task(captured).startsWith("bytes");
    frontend.tasks =
        _ -> new TaskOutput(binary ? POOLED : JSON.convertValue(theirs.get("json"), Object.class));

    var answer = post(captured.body());

    assertThat(answer.status)
        .as(answer.text())
        .isEqualTo(BETTER.contains(captured.name()) ? 200 : theirs.get("status").asInt());
    var received = captured.capture().path("worker_received");
    if (received.isMissingNode() || received.isNull()) {
      assertThat(frontend.askedTask).isNull();
    } else {
      var sent = (ObjectNode) received.get(0).deepCopy();
      sent.put("model", "script");
      assertThat(JSON.writeValueAsString(task().body())).isEqualTo(sent.toString());
    }
    if (binary && answer.status == 200) {
      assertThat(answer.body.toByteArray()).containsExactly(0, 0, 0, 0x3f, 0, 0, 0x80, 0xbe);
    } else if (answer.status == 200) {
      assertThat(answer.text()).isEqualTo(theirs.get("json").toString());
    } else {
      var ours = JSON.readTree(answer.text()).get("message").asText();
      var message = theirs.get("json").get("message").asText();
      if (message.startsWith(SHAPE)) {
        assertThat(ours).startsWith(SHAPE).hasSizeGreaterThan(SHAPE.length());
      } else if (answer.status == 400) {
        assertThat(ours).isEqualTo(message);
      }
    }
  }

  private static String task(Case captured) {
    return captured.api().equals("pooling") ? captured.body().path("encoding_format").asText() : "";
  }

  @Test
  void bytesAreDescribedInAHeader() throws IOException {
    open("pooling");
    frontend.tasks = _ -> new TaskOutput(POOLED);

    var answer =
        frontend.post(
            "{\"model\":\"script\",\"input\":\"a\",\"encoding_format\":\"bytes\",\"embed_dtype\":\"float16\",\"endianness\":\"big\"}");

    assertThat(JSON.readTree(Objects.requireNonNull(answer.metadata)))
        .isEqualTo(
            JSON.readTree(
                """
                {"id":"pool-ü","created":1,"model":"pooling",
                 "data":[{"index":0,"embed_dtype":"float16","endianness":"big","start":0,"end":8,"shape":[4]}],
                 "usage":{"prompt_tokens":3}}
                """));
    assertThat(answer.metadata).contains("\\u00fc").matches("\\p{ASCII}*");
    assertThat(frontend.post(ask("bytes_only", "[1,2]")).metadata).isNull();
  }

  private static String ask(String encoding, String input) {
    return "{\"model\":\"script\",\"input\":%s,\"encoding_format\":\"%s\"}"
        .formatted(input, encoding);
  }

  @Test
  void outputsThatAreNoBytesAreFailuresOfTheWorker() {
    open("pooling");
    for (var data : List.<Object>of(List.of(0.5), "?", Map.of("a", 1), 7)) {
      frontend.tasks = _ -> new TaskOutput(Map.of("data", List.of(Map.of("data", data))));
      assertThat(frontend.post(ask("bytes", "\"a\"")).status).as("%s", data).isEqualTo(500);
    }
    frontend.tasks = _ -> new TaskOutput(Map.of("data", List.of(Map.of("data", "AAA="))));
    assertThat(frontend.post(ask("bytes", "\"a\"")).status).isEqualTo(500);
    frontend.tasks = _ -> new TaskOutput(Map.of("data", List.of(), "model", "x".repeat(20_000)));
    assertThat(frontend.post(ask("bytes", "\"a\"")).status).isEqualTo(500);
    frontend.tasks = _ -> new TaskOutput(List.of());
    assertThat(frontend.post(ask("bytes", "\"a\"")).status).isEqualTo(500);
  }

  @Test
  void bytesOfManyInputsHaveNoRoomInAHeader() {
    open("pooling");
    var many = "[" + "\"a\",".repeat(32) + "\"a\"]";
    frontend.tasks = _ -> new TaskOutput(POOLED);

    assertThat(frontend.post(ask("bytes", many)).text()).contains("bytes_only");
    assertThat(frontend.post(ask("bytes_only", many)).status).isEqualTo(200);
  }

  private BodyTask task() {
    return Objects.requireNonNull(frontend.askedTask, "no worker was asked");
  }

  private void open(String api) {
    frontend.api = Objects.requireNonNull(APIS.get(api));
    frontend.modelTypes = Set.of(Objects.requireNonNull(TYPES.get(api)));
  }

  private FrontendFixture.Recorded post(JsonNode body) {
    return frontend.post(body.toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"input\":[]",
        "\"input\":{}",
        "\"input\":7",
        "\"input\":null",
        "\"input\":[\"a\",1]",
        "\"input\":[[1],[]]",
        "\"input\":[1,-1]",
        "\"input\":\"a\",\"priority\":1.5",
        "\"input\":\"a\",\"priority\":9223372036854775808",
        "\"input\":\"a\",\"truncate_prompt_tokens\":-2",
        "\"input\":\"a\",\"truncation_side\":\"top\"",
        "\"input\":\"a\",\"use_activation\":1",
        "\"input\":\"a\",\"mm_processor_kwargs\":[]",
        "\"input\":\"a\",\"nvext\":1",
        "\"input\":\"a\",\"user\":1"
      })
  void wrongFieldsAreRefused(String fields) {
    open("classify");

    assertThat(frontend.post("{\"model\":\"script\",%s}".formatted(fields)).status).isEqualTo(400);
    assertThat(frontend.askedTask).isNull();
  }

  @Test
  void optionsReachTheWorker() {
    open("pooling");
    frontend.tasks = _ -> new TaskOutput(Map.of("data", List.of()));

    var answer =
        frontend.post(
            "{\"model\":\"script\",\"input\":[[1],[2]],\"cache_salt\":\"s\",\"nvext\":{\"annotations\":[\"x\"]},"
                + "\"mm_processor_kwargs\":{\"a\":1},\"embed_dtype\":\"float16\",\"endianness\":\"big\"}");

    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    assertThat(task().body())
        .containsEntry("input", List.of(List.of(1), List.of(2)))
        .containsEntry("cache_salt", "s")
        .containsEntry("mm_processor_kwargs", Map.of("a", 1))
        .containsEntry("embed_dtype", "float16")
        .containsEntry("endianness", "big")
        .containsEntry("nvext", Map.of("annotations", List.of("x")));
  }

  @Test
  void aModelWithoutATokenizerIsNotTheOneThatNobodyNames() {
    open("rerank");
    frontend.api = TextService.TOKENIZE;

    assertThat(frontend.post("{\"prompt\":\"a\"}").status).isEqualTo(404);
  }

  @Test
  void aModelOfTokenIdsIsNotAsked() {
    open("classify");
    frontend.modelInput = "Tokens";

    assertThat(frontend.post("{\"model\":\"script\",\"input\":\"a\"}").status).isEqualTo(404);
    assertThat(frontend.askedTask).isNull();
  }

  @Test
  void aModelOfBodiesIsNotAskedForTexts() {
    open("rerank");
    frontend.api = TextService.CHAT;

    assertThat(
            frontend.post(
                    "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}")
                .status)
        .isEqualTo(404);
  }

  @Test
  void aLostWorkerIsAFailureOfTheServer() {
    open("rerank");
    frontend.tasks =
        _ -> {
          throw new WorkerLostException(ErrorCode.DISCONNECTED, "gone");
        };

    assertThat(frontend.post("{\"model\":\"script\",\"query\":\"q\",\"documents\":[\"a\"]}").status)
        .isGreaterThanOrEqualTo(500);
  }

  @Test
  void inputsAreBounded() {
    var many = JSON.createObjectNode().put("model", "script").put("query", "q");
    var documents = many.putArray("documents");
    for (int i = 0; i < 2049; i++) {
      documents.add("");
    }

    var refusal =
        catchThrowableOfType(
            ApiException.class, () -> TaskRequest.read(TaskRequest.Kind.RERANK, many));

    assertThat(refusal.error().status()).isEqualTo(400);
    assertThat(refusal.error().message()).contains("2048").contains("2049");
  }
}
