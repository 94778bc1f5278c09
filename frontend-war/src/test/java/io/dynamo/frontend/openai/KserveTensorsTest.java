package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.kserve.InferCalls;
import io.dynamo.frontend.kserve.LookupMessages;
import io.dynamo.frontend.kserve.ModelDirectory;
import io.dynamo.frontend.kserve.NamedModel;
import io.dynamo.frontend.kserve.Published;
import io.dynamo.frontend.openai.wire.KserveForm;
import io.dynamo.frontend.sse.FakeHangUps;
import io.dynamo.inference.tensor.Tensor;
import io.dynamo.inference.tensor.TensorBytes;
import io.dynamo.inference.tensor.TensorData;
import io.dynamo.inference.tensor.TensorResponse;
import io.dynamo.inference.tensor.TensorType;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Models of tensors over gRPC's messages and REST, before the machinery of all requests. */
class KserveTensorsTest {
  private static final String INPUT =
      "inputs { name: 'a' datatype: 'INT32' shape: 2 contents { int_contents: [1, 2] } }";
  private static final int BODY_LIMIT = 1 << 20;

  private final FrontendFixture frontend =
      new FrontendFixture(Duration.ofSeconds(30), FakeHangUps.unwatched(), BODY_LIMIT);
  private final ModelDirectory models = new ModelDirectory(frontend);
  private final KserveCalls calls = new KserveCalls(frontend.completions, models);

  @BeforeEach
  void serveTensors() {
    frontend.modelTypes = Set.of("TensorBased");
    frontend.modelInput = "Tensor";
    frontend.tensors =
        request -> List.of(new TensorResponse(null, "w", request.tensors(), Map.of()));
  }

  @AfterEach
  void close() {
    assertThat(frontend.bodies.heldBytes()).as("memory that is still charged").isZero();
    frontend.closeIdle();
  }

  private DecodedAnswer ask(String request, boolean streamed) {
    var answer = new DecodedAnswer(streamed);
    var _ =
        calls.start(
            Published.encode("ModelInferRequest", "model_name: 'script' " + request),
            () -> {},
            new InferCalls.Caller(
                Map.of("x-dynamo-meta-tier", "gold"),
                IncomingRequest.NO_CONNECTION,
                IncomingRequest.NO_CONNECTION,
                Duration.ofSeconds(20)),
            streamed,
            answer);
    return answer;
  }

  private static ApiError refusal(DecodedAnswer answer) {
    return Objects.requireNonNull(answer.error, "the request is answered");
  }

  private static Tensor tensor(String name, TensorType type, long... values) {
    var bytes = new TensorBytes(type);
    for (long value : values) {
      bytes.add(value);
    }
    return new Tensor(name, List.of((long) values.length), Map.of(), bytes.data());
  }

  private void answers(Tensor... tensors) {
    frontend.tensors =
        _ -> List.of(new TensorResponse(null, "w", List.of(tensors), Map.of("took", 0.5)));
  }

  @Test
  void metadataOfTheCallReachWorkers() {
    assertThat(ask(INPUT, false).messages).hasSize(1);

    assertThat(frontend.contexts.getFirst().metadata()).isEqualTo(Map.of("tier", "gold"));
  }

  @Test
  void wantedOutputsAreGivenAlone() {
    answers(tensor("y", TensorType.INT8, 1), tensor("z", TensorType.INT8, 2));

    var answer = ask(INPUT + "outputs { name: 'z' }", false);

    assertThat(answer.messages.getFirst()).contains("\"z\"").doesNotContain("\"y\"");
    assertThat(Objects.requireNonNull(frontend.askedTensors).outputs().getFirst().name())
        .isEqualTo("z");
  }

  @Test
  void halfPrecisionLeavesAsBytesToAnyone() {
    answers(tensor("h", TensorType.FP16, 0x3C00), tensor("i", TensorType.INT8, -1));

    assertThat(ask(INPUT, false).messages.getFirst())
        .contains("raw_output_contents: \"\\000<\"", "raw_output_contents: \"\\377\"")
        .doesNotContain("contents {");
  }

  @Test
  void theLastMessageOfAStreamIsMarkedForTritonsClients() {
    var answer =
        ask(
            INPUT
                + "parameters { key: 'triton_enable_empty_final_response' value { bool_param: true } }",
            true);

    assertThat(answer.messages).hasSize(2);
    assertThat(answer.messages.getLast())
        .contains("triton_final_response")
        .doesNotContain("outputs");
    assertThat(answer.done).isTrue();
    assertThat(Objects.requireNonNull(frontend.askedTensors).parameters()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void abortAllEndsAnswersThatGoOn(boolean streamed) {
    frontend.endless = true;
    var answering = frontend.tensors;
    frontend.tensors =
        request -> {
          frontend.completions.abortAll(
              new EngineFailedException(
                  ErrorCode.BACKEND_ENGINE_SHUTDOWN, "the server is stopping", null));
          return answering.apply(request);
        };

    var answer = ask(INPUT, streamed);

    if (streamed) {
      assertThat(answer.messages.getLast()).contains("error_message");
    } else {
      assertThat(refusal(answer).status()).isEqualTo(503);
    }
  }

  @Test
  void otherApisAndOldVersionsDoNotHaveTheModel() {
    assertThat(
            frontend.post(
                    "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}")
                .status)
        .isEqualTo(404);
    assertThat(refusal(ask("model_version: '7' " + INPUT, false)).status()).isEqualTo(404);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "inputs { name: 'a' datatype: 'INT32' shape: [-1] }             | the dimension -1",
        "inputs { name: 'a' datatype: 'INT32' shape: [4294967296, 4294967296] } | more elements",
        "inputs { name: 'a' datatype: 'XX' }                            | the datatype 'XX'",
        "inputs { name: 'a' datatype: 'INT32' shape: 1 }                | Missing raw input",
      })
  void hostileInputsAreRefusedBeforeAWorkerIsAsked(String request, String words) {
    var error = refusal(ask(request, false));

    assertThat(error.status()).isEqualTo(400);
    assertThat(error.message()).contains(words);
    assertThat(frontend.askedTensors).isNull();
  }

  @Test
  void inputsThatTheCardDescribesOtherwiseAreRefused() {
    frontend.tensorConfig =
        Map.of("inputs", List.of(Map.of("name", "a", "data_type", "Int8", "shape", List.of(2))));

    assertThat(refusal(ask(INPUT, false)).message()).contains("the model takes INT8");
  }

  @Test
  void elementsForWhichThereIsNoMemoryAreRefused() {
    int count = 256 << 10; // of a byte in the message, and of eight in memory
    var request =
        "inputs { name: 'a' datatype: 'INT64' shape: %d contents { int64_contents: [%s1] } }"
            .formatted(count, "1,".repeat(count - 1));
    try (var full = frontend.bodies.open()) {
      full.chargeComplete(64L * BODY_LIMIT - (3 << 19));

      assertThat(refusal(ask(request, false)).status()).isEqualTo(503);
    }
    assertThat(frontend.askedTensors).isNull();
    assertThat(ask(request, false).messages).hasSize(1);
  }

  @Test
  void answersForWhichThereIsNoMemoryAreRefused() {
    answers(tensor("y", TensorType.INT8, new long[256 << 10]));
    try (var full = frontend.bodies.open()) {
      full.chargeComplete(64L * BODY_LIMIT - (1 << 19));

      assertThat(refusal(ask(INPUT, false)).status()).isEqualTo(503);
      assertThat(ask(INPUT, true).messages)
          .singleElement()
          .asString()
          .doesNotContain("could not be written down");
    }
    assertThat(ask(INPUT, false).messages).hasSize(1);
  }

  @Test
  void numbersAsTextAreChargedAsText() {
    answers(tensor("y", TensorType.BOOL, new long[1 << 20]));
    try (var full = frontend.bodies.open()) {
      full.chargeComplete(64L * BODY_LIMIT - (16 << 20));

      assertThat(
              infer("{'inputs':[{'name':'a','datatype':'BOOL','shape':[1],'data':[true]}]}").status)
          .isEqualTo(503);
    }
  }

  @Test
  void requestsAreCountedForStatistics() {
    ask(INPUT, false);
    ask(INPUT, true);
    ask("inputs { name: 'a' datatype: 'XX' }", false);
    frontend.tensors = _ -> List.of();
    ask(INPUT, true);

    var statistics =
        Published.decode(
            "ModelStatisticsResponse",
            LookupMessages.modelStatistics(models.statistics(new NamedModel("script", ""))));

    assertThat(statistics)
        .startsWith("model_stats { name: \"script\" version: \"1\" last_inference: ")
        .contains("inference_count: 2 execution_count: 2 inference_stats { success { count: 2 ns: ")
        .contains("fail { count: 2 ns: ");
    assertThat(models.statistics(new NamedModel("", ""))).hasSize(1);
  }

  private FrontendFixture.Recorded infer(String body) {
    frontend.api = new TensorApi(new KserveForm.Rest(new NamedModel("script", ""), null));
    return frontend.post(body.replace('\'', '"'));
  }

  private static final String JSON_INPUT =
      "{'name':'a','datatype':'INT32','shape':[2],'parameters':{'p':1},'data':[[1],[2]]}";

  @Test
  void jsonIsAnsweredAsJson() {
    answers(
        tensor("i", TensorType.INT64, -5, 7),
        tensor("u", TensorType.UINT64, -1),
        tensor("t", TensorType.BOOL, 1, 0),
        tensor("f", TensorType.FP32, Float.floatToRawIntBits(1.5f)),
        tensor("d", TensorType.FP64, Double.doubleToRawLongBits(1e300)));

    assertThat(infer("{'id':'x','inputs':[" + JSON_INPUT + "]}").text())
        .isEqualTo(
            ("{'model_name':'script','model_version':'1','id':'x','parameters':{'took':0.5},'outputs':["
                    + "{'name':'i','datatype':'INT64','shape':[2],'data':[-5,7]},"
                    + "{'name':'u','datatype':'UINT64','shape':[1],'data':[18446744073709551615]},"
                    + "{'name':'t','datatype':'BOOL','shape':[2],'data':[true,false]},"
                    + "{'name':'f','datatype':'FP32','shape':[1],'data':[1.5]},"
                    + "{'name':'d','datatype':'FP64','shape':[1],'data':[1.0E300]}]}")
                .replace('\'', '"'));
    var asked = Objects.requireNonNull(frontend.askedTensors).tensors().getFirst();
    assertThat(asked.parameters()).isEqualTo(Map.of("p", 1L));
    assertThat(asked.data().bytes().getInt(4)).isEqualTo(2);
  }

  @Test
  void outputsThatHaveNoJsonAreAskedForAsBytes() {
    answers(tensor("h", TensorType.BF16, 0x3F80));
    assertThat(infer("{'inputs':[" + JSON_INPUT + "]}").text())
        .contains("the output 'h' has the type BF16, for which there is no JSON");
    answers(tensor("n", TensorType.FP32, Float.floatToRawIntBits(Float.NaN)));
    assertThat(infer("{'inputs':[" + JSON_INPUT + "]}").text()).contains("has the value NaN");
    var strings = new TensorBytes(TensorType.BYTES);
    strings.add(new byte[] {-1});
    answers(new Tensor("s", List.of(1L), Map.of(), strings.data()));
    assertThat(infer("{'inputs':[" + JSON_INPUT + "]}").status).isEqualTo(400);

    var answer =
        infer(
            "{'inputs':["
                + JSON_INPUT
                + "],'outputs':[{'name':'s','parameters':{'binary_data':true}}]}");

    var bytes = ByteBuffer.wrap(answer.body.toByteArray());
    var head = new byte[bytes.getInt()];
    bytes.get(head);
    assertThat(new String(head, StandardCharsets.UTF_8)).contains("{\"binary_data_size\":5}");
    var rest = new byte[bytes.remaining()];
    bytes.get(rest);
    assertThat(rest).containsExactly(1, 0, 0, 0, -1);
  }

  @Test
  void contentsMayComeAsBytesBehindTheJson() {
    var json =
        ("{'inputs':[{'name':'h','datatype':'FP16','shape':[1],'parameters':{'binary_data_size':2}},"
                + "{'name':'s','datatype':'BYTES','shape':[1],'parameters':{'binary_data_size':6}}],"
                + "'parameters':{'binary_data_output':true}}")
            .replace('\'', '"')
            .getBytes(StandardCharsets.UTF_8);
    var body = new ByteArrayOutputStream();
    body.writeBytes(json);
    body.writeBytes(new byte[] {0, 0x3C, 2, 0, 0, 0, 'H', 'i'});
    frontend.api = new TensorApi(new KserveForm.Rest(new NamedModel("script", ""), json.length));

    var answer =
        frontend.post(body.toByteArray(), Map.of("content-type", "application/octet-stream"));

    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    var asked = Objects.requireNonNull(frontend.askedTensors).tensors();
    assertThat(asked.getFirst().data().bytes().getShort()).isEqualTo((short) 0x3C00);
    assertThat(((TensorData.Strings) asked.getLast().data()).text(0)).isEqualTo("Hi");
    assertThat(answer.text()).contains("{\"binary_data_size\":2}", "{\"binary_data_size\":6}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{'name':'a','datatype':'INT32','shape':[2],'data':[1]} | implies 2 elements but data has 1",
        "{'name':'a','datatype':'INT32','shape':[1],'data':[1,2]} | exactly one element",
        "{'name':'a','datatype':'INT8','shape':[1],'data':[300]} | a value of INT8",
        "{'name':'a','datatype':'FP32','shape':[1],'data':[1e39]} | a value of FP32",
        "{'name':'a','datatype':'FP64','shape':[1],'data':[10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000]} | a value of FP64",
        "{'name':'a','datatype':'FP16','shape':[1],'data':[1]} | as bytes behind the JSON only",
        "{'name':'a','datatype':'INT32','shape':[-1],'data':[1]} | the dimension -1",
        "{'name':'a','datatype':'BYTES','shape':[1],'data':[1]} | a value of BYTES",
      })
  void malformedJsonIsRefused(String input, String words) {
    var answer = infer("{'inputs':[" + input + "]}");

    assertThat(answer.status).as(answer.text()).isEqualTo(400);
    assertThat(String.valueOf(answer.error)).contains(words);
    assertThat(frontend.askedTensors).isNull();
  }
}
