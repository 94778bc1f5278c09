package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The conversations whose answers by the model that ships along were recorded with PyTorch. */
final class GoldenChats {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path FILE = Path.of("../frontend-war/src/test/resources/tiny/golden.json");
  private static final String END = "<|im_end|>";
  private static final String LONG = "count-100";

  private GoldenChats() {}

  /** Posts a body to a path of a frontend. */
  interface Poster {
    HttpResponse<String> post(String path, String body) throws IOException, InterruptedException;
  }

  /**
   * Asks all conversations whose answer is plain text, and compares it; tool calls and thoughts,
   * which frontends take out of the text, are compared where they are parsed.
   */
  static void compareAll(Poster frontend) throws Exception {
    int compared = 0;
    for (var golden : JSON.readTree(FILE.toFile())) {
      var output = golden.get("output_text").asText();
      var request = golden.get("request");
      if (!request.has("messages")
          || request.get("messages").toString().contains("tool_calls")
          || output.contains("<tool_call>")
          || output.contains("think>")) {
        continue;
      }
      var body = JSON.createObjectNode();
      body.put("model", Cluster.MODEL);
      body.put("temperature", 0);
      body.put("max_tokens", golden.get("output_ids").size());
      body.set("messages", request.get("messages"));
      if (request.has("tools")) {
        body.set("tools", request.get("tools"));
      }
      if (request.has("enable_thinking")) {
        body.putObject("chat_template_kwargs")
            .set("enable_thinking", request.get("enable_thinking"));
      }
      var answer = frontend.post("/v1/chat/completions", body.toString());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      var content = JSON.readTree(answer.body()).at("/choices/0/message/content").asText();
      assertThat(content).as(golden.get("name").asText()).isEqualTo(output.replace(END, ""));
      compared++;
    }
    assertThat(compared).isGreaterThan(8);
  }

  /** Returns as many streamed requests for the longest answer, whose tokens are beyond doubt. */
  static List<String> longBodies(int count) throws IOException {
    var golden = named(LONG);
    var body = JSON.createObjectNode();
    body.put("model", Cluster.MODEL).put("stream", true);
    body.put("temperature", 0).put("max_tokens", 1000);
    body.set("messages", golden.get("request").get("messages"));
    return Collections.nCopies(count, body.toString());
  }

  /** Returns that answer. */
  static String longAnswer() throws IOException {
    return named(LONG).get("output_text").asText().replace(END, "");
  }

  /** Waits for the end of all streams of {@link #longBodies}; each must have the whole answer. */
  static void requireWhole(Crowd crowd) throws Exception {
    var texts = new ArrayList<String>();
    crowd.unbroken().forEach(outcome -> texts.add(outcome.text()));
    assertThat(texts).isNotEmpty().containsOnly(longAnswer());
  }

  private static JsonNode named(String name) throws IOException {
    for (var golden : JSON.readTree(FILE.toFile())) {
      if (golden.get("name").asText().equals(name)) {
        return golden;
      }
    }
    throw new AssertionError("no case " + name + " in " + FILE);
  }
}
