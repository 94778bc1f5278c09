package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.openai.wire.JsonBody;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Sends one request per field and value, and compares status and message with those captured from
 * Dynamo.
 */
class ChatValidationTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SHAPE = "Failed to deserialize the JSON body into the target type: ";

  /** Captures that depend on a template, a router or a stream, which have tests of their own. */
  private static final Set<String> ELSEWHERE =
      Set.of(
          "image_data_url",
          "image_url",
          "video_url",
          "audio_url",
          "input_audio",
          "assistant_reasoning_content",
          "assistant_reasoning_field",
          "backend_instance_unknown",
          "decode_worker_unknown_stream",
          "worker_instance_unknown",
          "query_instance_id",
          "query_instance_id_empty",
          "query_instance_id_unary",
          "routing_constraints",
          "meta_big");

  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    assertThat(frontend.admission.admitted()).isZero();
    frontend.close();
  }

  record Case(String name, JsonNode request, JsonNode response, JsonNode worker) {
    byte[] body() throws IOException {
      return request.has("raw_body")
          ? request.get("raw_body").textValue().getBytes(StandardCharsets.ISO_8859_1)
          : JSON.writeValueAsBytes(request.get("body"));
    }

    Map<String, String> headers() {
      var headers = new HashMap<String, String>();
      for (var header : request.path("headers").properties()) {
        headers.put(header.getKey(), header.getValue().asText());
      }
      return headers;
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> cases() throws IOException {
    return Stream.of("chat-validation", "json-tolerance", "forwarding", "nvext", "headers", "order")
        .flatMap(ChatValidationTest::captured)
        .filter(it -> it.request().get("path").asText().equals("/v1/chat/completions"))
        .filter(it -> it.request().get("method").asText().equals("POST"))
        .filter(it -> !ELSEWHERE.contains(it.name()))
        .filter(it -> !it.name().equals("deep_nesting")) // its body is abridged in the capture
        .filter(it -> !it.name().equals("f_functions_name_f")); // refused as a whole here: 501
  }

  private static Stream<Case> captured(String file) {
    try (var in = ChatValidationTest.class.getResourceAsStream("/golden/" + file + ".json")) {
      return StreamSupport.stream(JSON.readTree(in).spliterator(), false)
          .map(
              it ->
                  new Case(
                      it.get("name").asText(),
                      it.get("request"),
                      it.get("response"),
                      it.path("worker_received").path(0)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void isAnsweredAsDynamoAnswersIt(Case captured) throws IOException {
    frontend.items = List.of(new EngineOutput(new int[1], "a", FinishReason.EOS, null, 0, null));
    var answer = frontend.post(captured.body(), captured.headers());
    var reply = answer.events ? "" : JSON.readTree(answer.text()).path("message").asText();
    int status = captured.response().get("status").intValue();
    assertThat(answer.status).as(reply).isEqualTo(status);
    if (status == 200) {
      asksTheWorkerForTheSame(captured);
      return;
    }
    var theirs = captured.response().get("json").get("message").textValue();
    if (theirs.startsWith(SHAPE)) {
      assertThat(reply).startsWith(SHAPE).hasSizeGreaterThan(SHAPE.length());
    } else if (theirs.contains("must be a valid JSON object string")) {
      assertThat(reply)
          .startsWith(
              theirs.substring(0, theirs.indexOf("object string") + "object string".length()));
    } else if (status == 404) {
      assertThat(reply).startsWith(theirs);
    } else {
      assertThat(reply).isEqualTo(theirs);
    }
  }

  /** Compares with what Dynamo's worker received. */
  private void asksTheWorkerForTheSame(Case captured) {
    var worker = captured.worker();
    assertThat(worker.isObject()).as("the capture has what the worker received").isTrue();
    var asked = Objects.requireNonNull(frontend.asked);
    assertThat(asked.model()).isEqualTo(worker.get("model").textValue());
    assertThat(asked.eosTokenIds()).containsExactly(ints(worker.get("eos_token_ids")));
    var stop = JSON.createObjectNode();
    putUnlessNull(stop, "max_tokens", asked.stop().maxTokens());
    putUnlessNull(stop, "stop", asked.stop().stop().isEmpty() ? null : asked.stop().stop());
    putUnlessNull(
        stop,
        "stop_token_ids",
        asked.stop().stopTokenIds().isEmpty() ? null : asked.stop().stopTokenIds());
    putUnlessNull(
        stop,
        "stop_token_ids_hidden",
        asked.stop().hiddenStopTokenIds().isEmpty() ? null : asked.stop().hiddenStopTokenIds());
    putUnlessNull(stop, "min_tokens", asked.stop().minTokens());
    putUnlessNull(stop, "ignore_eos", asked.stop().ignoreEos() ? true : null);
    putUnlessNull(stop, "max_thinking_tokens", asked.stop().maxThinkingTokens());
    assertThat(sameText(stop)).isEqualTo(without(worker, "stop_conditions", ""));
    var sampling = JSON.createObjectNode();
    var given = asked.sampling();
    putUnlessNull(sampling, "n", given.n());
    putUnlessNull(sampling, "temperature", given.temperature());
    putUnlessNull(sampling, "top_p", given.topP());
    putUnlessNull(sampling, "top_k", given.topK());
    putUnlessNull(sampling, "min_p", given.minP());
    putUnlessNull(sampling, "frequency_penalty", given.frequencyPenalty());
    putUnlessNull(sampling, "presence_penalty", given.presencePenalty());
    putUnlessNull(sampling, "repetition_penalty", given.repetitionPenalty());
    putUnlessNull(sampling, "seed", given.seed());
    putUnlessNull(sampling, "include_stop_str_in_output", given.includeStop());
    if (given.guided() != null) {
      var guided = JSON.createObjectNode();
      putUnlessNull(guided, "json", given.guided().json());
      putUnlessNull(guided, "regex", given.guided().regex());
      putUnlessNull(
          guided, "choice", given.guided().choice().isEmpty() ? null : given.guided().choice());
      putUnlessNull(guided, "grammar", given.guided().grammar());
      putUnlessNull(guided, "backend", given.guided().backend());
      putUnlessNull(guided, "whitespace_pattern", given.guided().whitespacePattern());
      sampling.set("guided_decoding", guided);
    }
    assertThat(sameText(sampling)).isEqualTo(without(worker, "sampling_options", ""));
    var output = JSON.createObjectNode();
    putUnlessNull(output, "logprobs", asked.output().logprobs());
    putUnlessNull(output, "prompt_logprobs", asked.output().promptLogprobs());
    putUnlessNull(output, "skip_special_tokens", asked.output().skipSpecialTokens());
    putUnlessNull(output, "return_tokens_as_token_ids", asked.output().tokensAsIds());
    assertThat(sameText(output)).isEqualTo(without(worker, "output_options", ""));
    var extra = new LinkedHashMap<>(asked.extraArgs());
    if (extra.get("sampling_options") instanceof Map<?, ?> options
        && options.containsKey("logit_bias")) {
      extra.remove("sampling_options"); // Dynamo drops it on the way
    }
    JsonNode extraArgs = JSON.valueToTree(extra);
    assertThat(extraArgs.toString())
        .isEqualTo(worker.has("extra_args") ? worker.get("extra_args").toString() : "{}");
    JsonNode hints = JSON.valueToTree(asked.routing().passedOn().fields());
    var routing = worker.get("routing").deepCopy();
    ((ObjectNode) routing).remove("dp_rank"); // the router's choice
    assertThat(hints.toString()).isEqualTo(routing.toString());
    for (var name :
        List.of(
            "router",
            "request_timestamp_ms",
            "multi_modal_data",
            "agent_context",
            "mm_processor_kwargs",
            "media_io_kwargs")) {
      JsonNode passed = JSON.valueToTree(asked.passedOn().get(name));
      assertThat(passed == null || passed.isNull() ? "none" : passed.toString())
          .as(name)
          .isEqualTo(worker.has(name) ? worker.get(name).toString() : "none");
    }
    if (worker.has("(prompt_text)")) {
      assertThat(frontend.encoded).isEqualTo(worker.get("(prompt_text)").textValue());
    }
  }

  private static int[] ints(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).mapToInt(JsonNode::intValue).toArray();
  }

  private static void putUnlessNull(ObjectNode to, String key, @Nullable Object value) {
    if (value != null) {
      to.set(key, JSON.valueToTree(value));
    }
  }

  private static Map<String, String> sameText(JsonNode object) {
    var fields = new TreeMap<String, String>();
    for (var entry : object.properties()) {
      var value = entry.getValue();
      fields.put(
          entry.getKey(),
          value.isFloatingPointNumber()
              ? Float.toString(value.floatValue())
              : value.toString()); // floats of 32 bits on the wire
    }
    return fields;
  }

  private static Map<String, String> without(JsonNode worker, String group, String key) {
    var fields = sameText(worker.get(group));
    fields.remove(key);
    return fields;
  }

  @Test
  void listsComparedWithEveryTokenAreBounded() {
    frontend.items = List.of(new EngineOutput(new int[1], "a", FinishReason.EOS, null, 0, null));
    var head = "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],";
    for (int count : new int[] {1024, 1025}) {
      var ids = "\"stop_token_ids\":[" + "1,".repeat(count - 1) + "1]}";
      var answer = frontend.post(head + ids);
      assertThat(answer.status).isEqualTo(count == 1024 ? 200 : 400);
      if (count > 1024) {
        assertThat(answer.text())
            .contains("\"param\":\"stop_token_ids\"")
            .contains("Maximum of 1024 stop token IDs allowed, got 1025");
      }
      var text = frontend.post(head + "\"stop\":\"" + "b".repeat(count) + "\"}");
      assertThat(text.status).isEqualTo(count == 1024 ? 200 : 400);
      if (count > 1024) {
        assertThat(text.text()).contains("must not exceed 1024 characters, got 1025");
      }
    }
  }

  @Test
  void aBodyOfTooManyPiecesIsRefused() {
    var body = ("[" + "[],".repeat(600_000) + "[]]").getBytes(StandardCharsets.UTF_8);
    assertThatThrownBy(() -> JsonBody.parse(body)).hasMessageContaining("1000000 tokens");
  }

  @Test
  void nestingBeyond128LevelsIsRefused() {
    for (int depth : new int[] {120, 200}) {
      var body =
          "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"metadata\":"
              + "[".repeat(depth)
              + "]".repeat(depth)
              + "}";
      frontend.items = List.of(new EngineOutput(new int[1], "a", FinishReason.EOS, null, 0, null));
      assertThat(frontend.post(body).status).isEqualTo(depth < 128 ? 200 : 400);
    }
  }

  @Test
  void tooMuchMetadataIs431() {
    var headers = new HashMap<String, String>();
    for (int i = 0; i < 65; i++) {
      headers.put("x-dynamo-meta-k" + i, "v");
    }
    var body = "{\"model\":\"nope\",\"messages\":[]}".getBytes(StandardCharsets.UTF_8);
    var answer = frontend.post(body, headers);
    assertThat(answer.status).isEqualTo(431);
    assertThat(answer.text()).contains("metadata headers exceed the limit of 64 entries");
  }

  @Test
  void toolHistoryReachesTheTemplateWithArgumentsAsAMap() {
    frontend.items = List.of(new EngineOutput(new int[1], "a", FinishReason.EOS, null, 0, null));
    var answer =
        frontend.post(
            """
            {"model":"script","messages":[{"role":"user","content":[{"type":"text","text":"a"},
            {"type":"text","text":"b"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c",
            "type":"function","function":{"name":"f","arguments":"{\\"x\\":1}"}}]},
            {"role":"tool","tool_call_id":"c","content":"r"}],"chat_template_kwargs":{"k":true},
            "tools":[{"type":"function","function":{"name":"f","parameters":{}}}]}
            """);
    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    var prompt = Objects.requireNonNull(frontend.prompt);
    assertThat(prompt.messages().get(0)).containsEntry("content", "a\nb");
    assertThat(prompt.messages().get(1))
        .containsEntry("content", "")
        .containsEntry(
            "tool_calls",
            List.of(
                Map.of(
                    "id",
                    "c",
                    "type",
                    "function",
                    "function",
                    Map.of("name", "f", "arguments", Map.of("x", 1)))));
    assertThat(prompt.messages().get(2)).containsEntry("tool_call_id", "c");
    assertThat(prompt.tools()).hasSize(1);
    assertThat(prompt.templateArgs()).containsEntry("k", true);
  }
}
