package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.kserve.InferCalls;
import io.dynamo.frontend.kserve.LookupMessages;
import io.dynamo.frontend.kserve.ModelDirectory;
import io.dynamo.frontend.kserve.Published;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Answers of Dynamo 1.6.1's own frontend over gRPC, from a worker that says {@code M}, {@code n}
 * and {@code Gener}, beside our answers to the same bytes.
 */
class KserveGoldenTest {
  /** Where Dynamo takes a request for what it does not say, and why ours refuses it. */
  private static final Map<String, Integer> BETTER =
      Map.of(
          "raw badlen", 400, // an element longer than its tensor; Dynamo ignores the length
          "both raw and contents", 400, // two texts; Dynamo takes one of them
          "two elements", 400, // in a shape of one; Dynamo takes the first
          "twice", 400, // the same input; Dynamo takes the last
          "empty text", 400, // which Dynamo's HTTP refuses, too
          "version 7", 404, // which no model has
          "outputs unknown", 400, // which no model has
          "params unknown", 400); // which Dynamo ignores, as it does all

  /** Where Dynamo gives all outputs although one was asked for. */
  private static final List<String> SELECTED = List.of("outputs", "stream outputs");

  /**
   * Where the contents of the request are bytes: ours are, too, as Dynamo's are for models of
   * tensors. Triton's client reads no others with NumPy 2.
   */
  private static final List<String> RAW = List.of("raw", "raw both", "stream two");

  private static List<JsonNode> answers() {
    try (var in = KserveGoldenTest.class.getResourceAsStream("/golden/kserve.json")) {
      var all = new ArrayList<JsonNode>();
      new JsonMapper().readTree(Objects.requireNonNull(in)).forEach(all::add);
      return all;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<String> inferences() {
    return answers().stream()
        .filter(entry -> entry.get("method").textValue().contains("Infer"))
        .map(entry -> entry.get("name").textValue())
        .toList();
  }

  static List<String> lookups() {
    return answers().stream()
        .filter(entry -> !entry.get("method").textValue().contains("Infer"))
        .map(entry -> entry.get("name").textValue())
        .toList();
  }

  private static JsonNode entry(String name) {
    return answers().stream()
        .filter(entry -> entry.get("name").textValue().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static List<byte[]> bytes(@Nullable JsonNode list) {
    var all = new ArrayList<byte[]>();
    if (list != null) {
      list.forEach(text -> all.add(Base64.getDecoder().decode(text.textValue())));
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("inferences")
  void requestsAreAnsweredAsByDynamo(String name) {
    var entry = entry(name);
    boolean streamed = entry.get("method").textValue().equals("ModelStreamInfer");
    var type = streamed ? "ModelStreamInferResponse" : "ModelInferResponse";
    var ours = new DecodedAnswer(streamed);
    try (var frontend = new FrontendFixture()) {
      frontend.items =
          List.of(
              new EngineOutput(new int[1], "M", null, null, 0, null),
              new EngineOutput(new int[1], "n", null, null, 0, null),
              new EngineOutput(new int[1], "Gener", FinishReason.LENGTH, null, 0, null));
      var calls = new KserveCalls(frontend.completions, new ModelDirectory(frontend));
      for (var message : bytes(entry.get("request"))) {
        var _ =
            calls.start(
                message,
                () -> {},
                new InferCalls.Caller(
                    Map.of(), IncomingRequest.NO_CONNECTION, IncomingRequest.NO_CONNECTION, null),
                streamed,
                ours);
      }
    }
    var better = BETTER.get(name);
    if (better != null) {
      assertThat(Objects.requireNonNull(ours.error).status()).isEqualTo(better);
      assertThat(entry.has("response")).as("Dynamo takes it").isTrue();
    } else if (entry.has("code")) {
      assertSameError(entry, ours.error);
    } else if (SELECTED.contains(name)) {
      assertThat(String.join("", ours.messages))
          .contains("text_output")
          .doesNotContain("finish_reason");
    } else {
      var theirs =
          bytes(entry.get("response")).stream()
              .map(message -> Published.decode(type, message))
              .toList();
      if (RAW.contains(name)) {
        assertThat(ours.messages.getLast())
            .contains(
                "raw_output_contents: \"\\a\\000\\000\\000MnGener\"",
                "raw_output_contents: \"\\006\\000\\000\\000length\"")
            .doesNotContain("bytes_contents");
        assertThat(theirs.getLast()).contains("bytes_contents: \"MnGener\"");
      } else {
        assertThat(ours.messages).isEqualTo(theirs);
      }
    }
  }

  /** The same code, and a reason that Dynamo's words contain, or that names the model. */
  private static void assertSameError(JsonNode entry, @Nullable ApiError error) {
    var ours = Objects.requireNonNull(error, "the request is answered");
    var code = entry.get("code").textValue();
    assertThat(ours.status()).isEqualTo(code.equals("NOT_FOUND") ? 404 : 400);
    if (code.equals("INVALID_ARGUMENT")) {
      var words = ours.message().split(":|, and|, supported| \\(", 2)[0];
      assertThat(entry.get("message").textValue().replace("\\\"", "\"")).contains(words);
    }
  }

  @ParameterizedTest
  @MethodSource("lookups")
  void lookupsAreAnsweredAsByDynamo(String name) {
    var entry = entry(name);
    var method = entry.get("method").textValue();
    var request = bytes(entry.get("request")).getFirst();
    try (var frontend = new FrontendFixture()) {
      var models = new ModelDirectory(frontend);
      byte[] ours;
      try {
        ours =
            switch (method) {
              case "ServerLive" -> LookupMessages.flag(true);
              case "ServerReady" -> LookupMessages.flag(models.isServerReady());
              case "ModelReady" ->
                  LookupMessages.flag(models.isReady(LookupMessages.model(request)));
              case "ModelMetadata" ->
                  LookupMessages.modelMetadata(models.describe(LookupMessages.model(request)));
              case "ModelConfig" ->
                  LookupMessages.modelConfig(models.describe(LookupMessages.model(request)));
              default -> throw new AssertionError(method);
            };
      } catch (ApiException refused) {
        assertThat(entry.get("code").textValue()).isEqualTo("NOT_FOUND");
        assertThat(refused.error().status()).isEqualTo(404);
        assertThat(refused.error().message()).isEqualTo(entry.get("message").textValue());
        return;
      }
      assertThat(Published.decode(method + "Response", ours))
          .isEqualTo(
              Published.decode(method + "Response", bytes(entry.get("response")).getFirst()));
    }
  }
}
