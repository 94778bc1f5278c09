package io.dynamo.it;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A streamed chat completion as its client understands it, put together from its frames.
 *
 * @param choices by their index
 * @param error the data of its error frame
 */
record ChatAnswer(
    TreeMap<Integer, Choice> choices, @Nullable JsonNode usage, @Nullable String error) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * One choice.
   *
   * @param calls {@code name(arguments)} of each tool call
   * @param logprobs of each token, as JSON
   */
  record Choice(
      String text, String reasoning, List<String> calls, List<String> logprobs, String finish) {
    private static final Choice EMPTY = new Choice("", "", List.of(), List.of(), "");
  }

  /** Reads a stream to its end; {@code onText} is called when a part of the answer has come. */
  static ChatAnswer read(ChatClient client, Runnable onText) throws IOException {
    var choices = new TreeMap<Integer, Building>();
    JsonNode usage = null;
    String error = null;
    boolean done = false;
    for (var event = client.next(); event != null; event = client.next()) {
      done = event.isDone();
      var data = event.data();
      if (data == null || done) {
        continue;
      }
      if (data.startsWith("{\"error\"")) {
        error = data;
        continue;
      }
      var frame = JSON.readTree(data);
      if (frame.hasNonNull("usage")) {
        usage = frame.get("usage");
      }
      for (var choice : frame.path("choices")) {
        choices.computeIfAbsent(choice.get("index").intValue(), _ -> new Building()).add(choice);
        onText.run();
      }
    }
    if (!done) {
      throw new AssertionError("a stream ended without [DONE]");
    }
    var built = new TreeMap<Integer, Choice>();
    choices.forEach((index, building) -> built.put(index, building.built()));
    return new ChatAnswer(built, usage, error);
  }

  /** The choice with this index; empty when nothing of it came. */
  Choice choice(int index) {
    return choices.getOrDefault(index, Choice.EMPTY);
  }

  private static final class Building {
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder reasoning = new StringBuilder();
    private final TreeMap<Integer, StringBuilder> calls = new TreeMap<>();
    private final List<String> logprobs = new ArrayList<>();
    private String finish = "";

    void add(JsonNode choice) {
      if (!finish.isEmpty()) {
        throw new AssertionError("a choice goes on after its finish: " + choice);
      }
      var delta = choice.path("delta");
      text.append(delta.path("content").asText(""));
      reasoning.append(delta.path("reasoning_content").asText(""));
      for (var call : delta.path("tool_calls")) {
        var to = calls.computeIfAbsent(call.get("index").intValue(), _ -> new StringBuilder());
        var function = call.path("function");
        if (function.hasNonNull("name")) {
          to.append(function.get("name").textValue()).append('(');
        }
        to.append(function.path("arguments").asText(""));
      }
      choice.path("logprobs").path("content").forEach(token -> logprobs.add(token.toString()));
      finish = choice.path("finish_reason").asText("");
      if (finish.equals("null")) {
        finish = "";
      }
    }

    Choice built() {
      var whole = calls.values().stream().map(call -> call + ")").toList();
      return new Choice(
          text.toString(), reasoning.toString(), whole, List.copyOf(logprobs), finish);
    }
  }
}
