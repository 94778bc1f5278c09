package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** The items of the scripted worker that the captures were made with. */
final class PlayedScript {
  static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern SCRIPT = Pattern.compile("@@(\\{.*})@@");

  private PlayedScript() {}

  /** One captured request with its answer. */
  record Capture(String name, JsonNode json) {
    JsonNode request() {
      return json.path("request");
    }

    JsonNode response() {
      return json.path("response");
    }

    int status() {
      return response().path("status").asInt();
    }

    boolean streams() {
      return response().has("sse");
    }

    /** The data of the answer's events. */
    List<JsonNode> events() {
      return PlayedScript.events(response().path("sse").asText());
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Capture> captures(String group) {
    try (var in = PlayedScript.class.getResourceAsStream("/golden/" + group + ".json")) {
      return StreamSupport.stream(JSON.readTree(in).spliterator(), false)
          .map(it -> new Capture(it.path("name").asText(), it))
          .toList()
          .stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The data of all events but OpenAI's terminator. */
  static List<JsonNode> events(String sse) {
    var events = new ArrayList<JsonNode>();
    for (var frame : sse.split("\n\n", 0)) {
      int data = frame.indexOf("data: ");
      if (data < 0 || frame.endsWith("data: [DONE]")) {
        continue;
      }
      try {
        var event = JSON.readTree(frame.substring(data + "data: ".length()));
        if (!frame.startsWith("event: " + event.path("type").asText() + "\n")) {
          throw new AssertionError("an event without its name: " + frame);
        }
        events.add(event);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return events;
  }

  /**
   * The items that the worker sends for {@code prompt}.
   *
   * @param text of the answer, for a script that gives only a text
   * @param tokens of the whole answer
   * @param finish of a script that gives only a text
   */
  static List<EngineOutput> items(
      String prompt, List<String> text, int tokens, @Nullable FinishReason finish) {
    var found = SCRIPT.matcher(prompt);
    var items = new ArrayList<EngineOutput>();
    try {
      var script = found.find() ? JSON.readTree(found.group(1)) : JSON.createObjectNode();
      if (!script.has("items")) {
        for (int i = 0; i < text.size(); i++) {
          boolean last = i == text.size() - 1;
          items.add(item(text.get(i), last ? tokens - (text.size() - 1) : 1, last ? finish : null));
        }
        return items;
      }
      var list = script.get("items");
      for (int i = 0; i < list.size(); i++) {
        boolean last = i == list.size() - 1;
        var reason = list.get(i).path("finish_reason").asText("");
        items.add(
            item(
                list.get(i).path("t").asText(),
                last ? Math.max(1, tokens - (list.size() - 1)) : 1,
                switch (reason) {
                  case "" -> null;
                  case "length" -> FinishReason.LENGTH;
                  case "content_filter" -> FinishReason.CONTENT_FILTER;
                  case "stop" -> FinishReason.STOP;
                  default -> FinishReason.ERROR;
                }));
      }
      return items;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static EngineOutput item(String text, int tokens, @Nullable FinishReason finish) {
    return new EngineOutput(new int[tokens], text, finish, null, 0, null);
  }
}
