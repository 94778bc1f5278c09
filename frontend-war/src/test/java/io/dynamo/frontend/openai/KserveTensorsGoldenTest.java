package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.kserve.InferCalls;
import io.dynamo.frontend.kserve.LookupMessages;
import io.dynamo.frontend.kserve.ModelDirectory;
import io.dynamo.frontend.kserve.Published;
import io.dynamo.inference.tensor.TensorRequest;
import io.dynamo.inference.tensor.TensorResponse;
import io.dynamo.json.Json;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.generate.TensorCodec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Answers of Dynamo 1.6.1's own frontend over gRPC before a worker on its runtime that gives back
 * the tensors it gets, and the requests that worker saw, beside ours.
 */
class KserveTensorsGoldenTest {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  private static final TensorCodec CODEC = new TensorCodec();

  /** Where Dynamo sends on another value than it got: 300 as an INT8 of 44. */
  private static final String CHANGED = "infer fp64 bool uint64 int8";

  /** Where Dynamo's connection breaks off. */
  private static final String BREAKS = "infer no contents";

  /** The words that our reasons share with those of Dynamo; ours name the tensor beside them. */
  private static final Map<String, String> REASONS =
      Map.of(
          "infer raw size", "Raw input length must be a multiple of 4",
          "infer bytes raw bad", "length exceeds raw input size",
          "infer fp16 contents", "FP16/BF16 tensors must be sent via `raw_input_contents`",
          "infer wrong count", "shape implies 4 elements but data has 1",
          "infer wrong contents", "shape implies 1 elements but data has 0",
          "infer param none", "Parameter 'b' has no value");

  private static List<JsonNode> entries() {
    try (var in =
        KserveTensorsGoldenTest.class.getResourceAsStream("/golden/kserve-tensors.json")) {
      var all = new ArrayList<JsonNode>();
      JSON.readTree(Objects.requireNonNull(in)).forEach(all::add);
      return all;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<String> inferences() {
    return names(true);
  }

  static List<String> lookups() {
    return names(false);
  }

  private static List<String> names(boolean inferences) {
    return entries().stream()
        .filter(entry -> entry.get("method").textValue().contains("Infer") == inferences)
        .map(entry -> entry.get("name").textValue())
        .toList();
  }

  private static JsonNode entry(String name) {
    return entries().stream()
        .filter(entry -> entry.get("name").textValue().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** Dynamo's answers, in protobuf's own text. */
  private static List<String> theirs(JsonNode entry, String type) {
    var all = new ArrayList<String>();
    entry
        .path("response")
        .forEach(text -> all.add(Published.decode(type, Published.encode(type, text.textValue()))));
    return all;
  }

  /** A model whose worker is the one of the captures. */
  private static FrontendFixture frontend() {
    var frontend = new FrontendFixture();
    frontend.modelName = "echo-tensor";
    frontend.modelTypes = Set.of("TensorBased");
    frontend.modelInput = "Tensor";
    frontend.tensorConfig =
        Json.readObject(
                """
                {"name":"echo-tensor",
                 "inputs":[{"name":"a","data_type":"Int32","shape":[-1]},
                           {"name":"s","data_type":"Bytes","shape":[-1]}],
                 "outputs":[{"name":"a","data_type":"Int32","shape":[-1]}]}
                """
                    .getBytes(StandardCharsets.UTF_8))
            .members();
    frontend.tensors = KserveTensorsGoldenTest::echo;
    return frontend;
  }

  private static List<TensorResponse> echo(TensorRequest request) {
    var answers = new ArrayList<TensorResponse>();
    int count = request.parameters().containsKey("twice") ? 2 : 1;
    for (long i = 0; i < count && !request.parameters().containsKey("fail"); i++) {
      var given =
          new TensorResponse(request.id(), request.model(), request.tensors(), Map.of("n", i));
      var sent = CODEC.encodeItem(given, PayloadFormat.MSGPACK);
      answers.add(CODEC.decodeItem(ByteBuffer.wrap(sent), PayloadFormat.MSGPACK));
    }
    return answers;
  }

  @ParameterizedTest
  @MethodSource("inferences")
  void requestsAreAnsweredAsByDynamo(String name) throws IOException {
    var entry = entry(name);
    boolean streamed = entry.get("method").textValue().equals("ModelStreamInfer");
    var type = streamed ? "ModelStreamInferResponse" : "ModelInferResponse";
    var ours = new DecodedAnswer(streamed);
    TensorRequest asked;
    try (var frontend = frontend()) {
      frontend.taskFailure = name.endsWith("fail") ? failure() : null;
      var _ =
          new KserveCalls(frontend.completions, new ModelDirectory(frontend))
              .start(
                  Published.encode("ModelInferRequest", entry.get("request").textValue()),
                  () -> {},
                  new InferCalls.Caller(
                      Map.of(), IncomingRequest.NO_CONNECTION, IncomingRequest.NO_CONNECTION, null),
                  streamed,
                  ours);
      asked = frontend.askedTensors;
    }
    if (name.equals(CHANGED) || name.equals(BREAKS)) {
      assertThat(Objects.requireNonNull(ours.error).status()).isEqualTo(400);
      return;
    }
    if (entry.has("worker")) {
      assertSameRequest(entry.get("worker"), Objects.requireNonNull(asked));
    } else {
      assertThat(asked).as("the request for a worker").isNull();
    }
    if (entry.has("code")) {
      var error = Objects.requireNonNull(ours.error, "the request is answered");
      boolean theirFault = entry.get("code").textValue().equals("INVALID_ARGUMENT");
      assertThat(error.status()).isEqualTo(theirFault ? 400 : 500);
      var words = REASONS.get(name);
      if (words != null) {
        assertThat(error.message()).contains(words);
        assertThat(entry.get("message").textValue()).contains(words);
      }
    } else if (name.equals("stream fail")) {
      assertThat(ours.messages).hasSize(1);
      assertThat(ours.messages.getFirst())
          .startsWith("error_message:")
          .doesNotContain("a secret of the worker");
    } else {
      assertThat(ours.messages).isEqualTo(theirs(entry, type));
    }
  }

  private static DynamoException failure() {
    return new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "a secret of the worker", null);
  }

  /** The same members with the same values, as the worker printed them. */
  private static void assertSameRequest(JsonNode theirs, TensorRequest asked) throws IOException {
    var sent = ByteBuffer.wrap(CODEC.encodeRequest(asked, PayloadFormat.MSGPACK));
    var ours = JSON.valueToTree(WireReader.of(sent, PayloadFormat.MSGPACK).any());

    assertThat(JSON.readTree(ours.toString().replace("\"NaN\"", "NaN")))
        .isEqualTo(JSON.readTree(theirs.toString().replace("\"NaN\"", "NaN")));
  }

  @ParameterizedTest
  @MethodSource("lookups")
  void lookupsAreAnsweredAsByDynamo(String name) {
    var entry = entry(name);
    var method = entry.get("method").textValue();
    var request =
        LookupMessages.model(
            Published.encode(method + "Request", entry.get("request").textValue()));
    try (var frontend = frontend()) {
      var models = new ModelDirectory(frontend);
      var ours =
          switch (method) {
            case "ModelReady" -> LookupMessages.flag(models.isReady(request));
            case "ModelMetadata" -> LookupMessages.modelMetadata(models.describe(request));
            case "ModelConfig" -> LookupMessages.modelConfig(models.describe(request));
            default -> throw new AssertionError(method);
          };
      assertThat(List.of(Published.decode(method + "Response", ours)))
          .isEqualTo(theirs(entry, method + "Response"));
    }
  }
}
