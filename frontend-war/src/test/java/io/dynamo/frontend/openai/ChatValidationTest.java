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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
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

/** One request per field and value, as captured from Dynamo. */
class ChatValidationTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SHAPE = "Failed to deserialize the JSON body into the target type: ";

  /** Dynamo serves these; here they are refused by name until they are served. */
  private static final Set<String> NOT_SERVED =
      Set.of(
          "add_generation_prompt",
          "allowed_token_ids",
          "audio",
          "bad_words_token_ids",
          "cache_salt",
          "continue_final_message",
          "detokenize",
          "guided_choice",
          "guided_decoding_backend",
          "guided_grammar",
          "guided_json",
          "guided_regex",
          "guided_whitespace_pattern",
          "logit_bias",
          "logprob_token_ids",
          "logprobs",
          "media_io_kwargs",
          "mm_processor_kwargs",
          "modalities",
          "prediction",
          "prompt_logprobs",
          "reasoning_effort",
          "response_format",
          "return_tokens_as_token_ids",
          "thinking",
          "top_logprobs",
          "web_search_options");

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

    /** Top-level keys that are not served here. */
    List<String> notServed() {
      var keys = new ArrayList<String>();
      request
          .path("body")
          .fieldNames()
          .forEachRemaining(
              key -> {
                if (NOT_SERVED.contains(key)) {
                  keys.add(key);
                }
              });
      return keys;
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> cases() throws IOException {
    return Stream.concat(captured("chat-validation"), captured("json-tolerance"))
        .filter(it -> !it.name().equals("deep_nesting")) // its body is abridged in the capture
        .filter(it -> !it.name().startsWith("image_")) // text parts only
        .filter(it -> !it.name().equals("f_functions_name_f")); // refused as a whole here: 501
  }

  private static Stream<Case> captured(String file) throws IOException {
    try (var in = ChatValidationTest.class.getResourceAsStream("/golden/" + file + ".json")) {
      return StreamSupport.stream(JSON.readTree(in).spliterator(), false)
          .map(
              it ->
                  new Case(
                      it.get("name").asText(),
                      it.get("request"),
                      it.get("response"),
                      it.path("worker_received").path(0)));
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void isAnsweredAsDynamoAnswersIt(Case captured) throws IOException {
    frontend.items = List.of(new EngineOutput(new int[1], "a", FinishReason.EOS, null, 0, null));
    var answer = frontend.post(captured.body(), Map.of());
    var told = JSON.readTree(answer.text()).path("message").asText();
    if (captured.name().equals("f_response_format_type_text")) {
      assertThat(answer.status).isEqualTo(200);
      asksTheWorkerForTheSame(captured);
      return;
    }
    if (!captured.notServed().isEmpty()) {
      assertThat(answer.status).isEqualTo(400);
      assertThat(told).startsWith("Validation: Unsupported parameter(s): ");
      for (var key : captured.notServed()) {
        if (!key.equals("logprobs") && !key.equals("response_format")) {
          assertThat(told).contains("`" + key + "`");
        }
      }
      return;
    }
    int status = captured.response().get("status").intValue();
    assertThat(answer.status).as(told).isEqualTo(status);
    if (status == 200) {
      asksTheWorkerForTheSame(captured);
      return;
    }
    var theirs = captured.response().get("json").get("message").textValue();
    if (theirs.startsWith(SHAPE)) {
      assertThat(told).startsWith(SHAPE).hasSizeGreaterThan(SHAPE.length());
    } else if (theirs.contains("must be a valid JSON object string")) {
      assertThat(told)
          .startsWith(
              theirs.substring(0, theirs.indexOf("object string") + "object string".length()));
    } else if (status == 404) {
      assertThat(told).startsWith(theirs);
    } else {
      assertThat(told).isEqualTo(theirs);
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
    assertThat(sameText(sampling)).isEqualTo(without(worker, "sampling_options", ""));
    var output = JSON.createObjectNode();
    putUnlessNull(output, "skip_special_tokens", asked.output().skipSpecialTokens());
    assertThat(sameText(output)).isEqualTo(without(worker, "output_options", ""));
    if (worker.has("(prompt_text)")) {
      assertThat(rendered()).isEqualTo(worker.get("(prompt_text)").textValue());
    }
  }

  /** The script model's template, on what our template engine was given. */
  private String rendered() {
    var prompt = new StringBuilder();
    for (var message : Objects.requireNonNull(frontend.prompt).messages()) {
      prompt.append("<|im_start|>").append(message.get("role")).append('\n');
      prompt.append(message.get("content")).append("<|im_end|>\n");
    }
    // the capture's text went through a tokenizer that has no token for NUL
    return prompt.append("<|im_start|>assistant\n").toString().replace("\0", "");
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
      fields.put(entry.getKey(), entry.getValue().toString());
    }
    return fields;
  }

  private static Map<String, String> without(JsonNode worker, String group, String key) {
    var fields = sameText(worker.get(group));
    fields.remove(key);
    return fields;
  }

  @Test
  void whatIsComparedWithEveryTokenIsBounded() {
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
  void moreThanOneChoiceIsRefusedByName() {
    var answer =
        frontend.post(
            "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"n\":2}");
    assertThat(answer.status).isEqualTo(400);
    assertThat(answer.text()).contains("\"param\":\"n\"").contains("more than one choice");
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
