package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.PassedOn;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares completions with answers captured from Dynamo, byte for byte, except for improvements:
 * {@code finish_reason} on every chunk, places in the text, the echo of the prompt, one id for all
 * prompts.
 */
class CompletionsGoldenTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SHAPE = "Failed to deserialize the JSON body into the target type: ";

  /** Captures that are answered differently on purpose, each with a test of its own. */
  private static final Set<String> DIFFERENT =
      Set.of(
          "finish_null", // a text without an end is a failure here
          "finish_stop_then_null", // nothing follows the end here
          "finish_error", // the engine's own failure
          "alias", // of the catalog
          "echo",
          "echo_logprobs",
          "echo_stream",
          "best_of",
          "nvext_extra",
          "suffix_big"); // its body is abridged in the capture

  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    assertThat(frontend.admission.admitted()).isZero();
    frontend.close();
  }

  record Case(String name, JsonNode request, JsonNode response) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> cases() throws IOException {
    try (var in = CompletionsGoldenTest.class.getResourceAsStream("/golden/completions.json")) {
      return StreamSupport.stream(JSON.readTree(in).spliterator(), false)
          .map(it -> new Case(it.get("name").asText(), it.get("request"), it.get("response")))
          .filter(it -> it.request().get("path").asText().equals("/v1/completions"))
          .filter(it -> !DIFFERENT.contains(it.name()));
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void isAnsweredAsDynamoAnswersIt(Case captured) throws IOException {
    frontend.api = TextService.COMPLETIONS;
    frontend.tinyTokens = true;
    var response = captured.response();
    var theirs = response.path("json");
    var headers = new HashMap<String, String>();
    if (response.get("status").asInt() == 200) {
      script(captured, headers);
    }
    var answer = frontend.post(JSON.writeValueAsBytes(captured.request().get("body")), headers);
    assertThat(answer.status).as(answer.text()).isEqualTo(response.get("status").intValue());
    if (answer.status != 200) {
      var reply = JSON.readTree(answer.text()).get("message").asText();
      var message = theirs.get("message").asText();
      if (message.startsWith(SHAPE)) {
        assertThat(reply).startsWith(SHAPE).hasSizeGreaterThan(SHAPE.length());
      } else if (message.equals("Invalid request")) {
        assertThat(reply).contains("99999999"); // here the value is named
      } else {
        assertThat(reply).startsWith(message);
      }
    } else if (response.has("sse")) {
      assertThat(answer.text()).isEqualTo(expected(response.get("sse").textValue()));
    } else {
      assertThat(answer.text()).isEqualTo(JSON.writeValueAsString(better(theirs)));
    }
  }

  /** Applies our improvements to a capture. */
  private static String expected(String sse) throws IOException {
    var ours = new StringBuilder();
    var offset = new int[128];
    for (var frame : sse.split("\n\n", 0)) {
      if (!frame.startsWith("data: {")) {
        ours.append(frame).append("\n\n");
        continue;
      }
      var chunk = (ObjectNode) JSON.readTree(frame.substring("data: ".length()));
      chunk.put("id", chunk.get("id").asText().replaceFirst("^(cmpl-.{36})-[0-9]+$", "$1"));
      better(chunk, offset);
      ours.append("data: ").append(JSON.writeValueAsString(chunk)).append("\n\n");
    }
    return ours.toString();
  }

  private static JsonNode better(JsonNode whole) {
    return better((ObjectNode) whole, new int[128]);
  }

  private static JsonNode better(ObjectNode answer, int[] offset) {
    for (var each : answer.get("choices")) {
      var choice = (ObjectNode) each;
      var finish = choice.remove("finish_reason");
      choice.set("finish_reason", finish);
      if (choice.has("logprobs")) {
        var offsets = (ArrayNode) choice.get("logprobs").get("text_offset");
        for (var token : choice.get("logprobs").get("tokens")) {
          offsets.add(offset[choice.get("index").asInt()]);
          offset[choice.get("index").asInt()] += token.asText().length();
        }
      }
    }
    return answer;
  }

  /** Scripts the workers with the items of a capture. */
  private void script(Case captured, Map<String, String> headers) throws IOException {
    var chunks = new ArrayList<JsonNode>();
    if (captured.response().has("sse")) {
      for (var frame : captured.response().get("sse").textValue().split("\n\n", 0)) {
        if (frame.startsWith("event: token_ids\n: ")) {
          var ids = JSON.readTree(frame.substring(frame.indexOf('"'))).asText();
          frontend.promptIds = JSON.readValue(ids, int[].class);
        }
        if (frame.startsWith("data: {")) {
          chunks.add(JSON.readTree(frame.substring("data: ".length())));
        }
      }
    } else {
      chunks.add(captured.response().get("json"));
    }
    var head = chunks.getFirst();
    headers.put("x-dynamo-request-id", head.get("id").asText().substring(5, 41));
    frontend.createdSeconds = head.get("created").asLong();
    int texts = 1;
    int completion = 0;
    int prompt = 5;
    for (var chunk : chunks) {
      for (var choice : chunk.get("choices")) {
        texts = Math.max(texts, 1 + choice.get("index").asInt());
      }
      if (chunk.path("usage").isObject()) {
        completion = chunk.get("usage").get("completion_tokens").asInt();
        prompt = chunk.get("usage").get("prompt_tokens").asInt();
      }
    }
    var n = captured.request().get("body").path("n").asInt(1);
    frontend.promptTokens = prompt / (texts / n);
    var scripts = new ArrayList<List<EngineOutput>>();
    for (int i = 0; i < texts; i++) {
      scripts.add(new ArrayList<>());
    }
    var perText = Math.max(1, completion / texts);
    for (var chunk : chunks) {
      for (var choice : chunk.get("choices")) {
        var items = scripts.get(choice.get("index").asInt());
        boolean last = choice.has("finish_reason");
        int tokens = last ? Math.max(1, perText - items.size()) : 1;
        items.add(item(choice, last, tokens));
      }
    }
    frontend.scripts = scripts;
    if (captured.request().get("body").get("prompt").path(0).isArray()
        || captured.request().get("body").get("prompt").path(0).isInt()) {
      frontend.promptTokens = 0; // the prompt's own ids count
    }
  }

  private static EngineOutput item(JsonNode choice, boolean last, int tokens) {
    var text = choice.get("text").asText();
    Logprobs logprobs = null;
    var ids = new int[tokens];
    if (choice.has("logprobs")) {
      var given = choice.get("logprobs");
      ids = given.get("tokens").valueStream().mapToInt(it -> id(it.asText())).toArray();
      var top = new ArrayList<List<Logprobs.Top>>();
      for (var position : given.get("top_logprobs")) {
        var alternatives = new ArrayList<Logprobs.Top>();
        for (var each : position.properties()) {
          alternatives.add(
              new Logprobs.Top(
                  1, id(each.getKey()), each.getKey(), each.getValue().asDouble(), null));
        }
        top.add(alternatives);
      }
      logprobs =
          new Logprobs(
              null,
              given.get("token_logprobs").valueStream().mapToDouble(JsonNode::asDouble).toArray(),
              top);
    }
    var finish =
        !last
            ? null
            : choice.get("finish_reason").asText().equals("length")
                ? FinishReason.LENGTH
                : FinishReason.EOS;
    return new EngineOutput(ids, text, finish, null, 0, null, logprobs, null, PassedOn.NONE);
  }

  /** The fixture's vocabulary knows some longer tokens by these ids. */
  private static int id(String token) {
    return CodePoints.tokenOfTiny(token);
  }
}
