package io.dynamo.it;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The part of an answer that is the same each time: all but ids, times, numbers of tokens, the cuts
 * between pieces of a text, and the words of an error. A null {@code finish_reason} counts as
 * absent. Ids of tokens and workers, times and the fingerprint are among what may differ; their
 * kind may not.
 */
final class AnswerOutline {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Set<String> VOLATILE =
      Set.of(
          "id",
          "created",
          "created_at",
          "completed_at",
          "item_id",
          "request_id",
          "system_fingerprint",
          "prompt_tokens",
          "completion_tokens",
          "total_tokens",
          "input_tokens",
          "output_tokens",
          "reasoning_tokens",
          "worker_id",
          "timing");

  private static final Set<String> TEXTS = Set.of("content", "text");

  /** The outline of comments, however many there are. */
  private static final JsonNode COMMENT = JSON.getNodeFactory().textNode(":");

  /** Where a piece of a text stands in an event. */
  private static final List<String> PIECES =
      List.of("/choices/0/delta/content", "/choices/0/delta/reasoning_content", "/choices/0/text");

  private AnswerOutline() {}

  /** The outline of a whole answer: its JSON, or its text where it is none. */
  static JsonNode of(String body) {
    return masked(parsed(body));
  }

  /** The outline of a whole answer or of a stream. */
  static JsonNode ofAny(String body) {
    return body.startsWith("data: ") || body.startsWith("event: ") ? ofStream(body) : of(body);
  }

  /** The outline of an error: the type and the code in Dynamo's form. */
  static JsonNode ofError(String body) {
    var error = parsed(body);
    return JSON.createObjectNode()
        .put("type", error.path("type").asText())
        .put("code", error.path("code").asInt())
        .put("details", error.at("/details/type").asText())
        .put(
            "kind",
            error.path("type").asText().equals("error") ? error.at("/error/type").asText() : "");
  }

  /** The outline of a stream: its events, choice by choice, those that go on with a text joined. */
  static JsonNode ofStream(String body) {
    var events =
        Stream.of(body.split("\n\n", 0))
            .map(frame -> frame.startsWith(":") ? COMMENT : event(frame))
            .sorted(Comparator.comparingInt(AnswerOutline::choice))
            .toList();
    var outline = JSON.createArrayNode();
    for (var event : events) {
      var last = outline.isEmpty() ? null : outline.get(outline.size() - 1);
      if (!joined(last, event) && !(event.equals(COMMENT) && event.equals(last))) {
        outline.add(event);
      }
    }
    return outline;
  }

  /** The choice that an event belongs to; events of all choices come after them. */
  private static int choice(JsonNode event) {
    return event.at("/data/choices/0/index").asInt(Integer.MAX_VALUE);
  }

  /** An outline of a stream without the comments that fill its silence. */
  static JsonNode withoutComments(JsonNode outline) {
    var events = JSON.createArrayNode();
    outline.forEach(
        event -> {
          if (!event.equals(COMMENT)) {
            events.add(event);
          }
        });
    return events;
  }

  /** An outline with the kinds of its texts alone, for models that make them up. */
  static JsonNode withoutTexts(JsonNode outline) {
    return masked(outline, (name, value) -> TEXTS.contains(name) && value.isTextual());
  }

  /** Whether a stream has comments. */
  static boolean hasComments(JsonNode outline) {
    return outline.valueStream().anyMatch(COMMENT::equals);
  }

  /** The code of the error that a stream begins with; 0 when it begins with something else. */
  static int firstError(String stream) {
    int end = stream.indexOf("\n\n");
    return end < 0 ? 0 : event(stream.substring(0, end)).at("/data/error/code").asInt();
  }

  private static JsonNode event(String frame) {
    var event = JSON.createObjectNode();
    for (var line : frame.split("\n", 0)) {
      if (line.startsWith("event: ")) {
        event.put("event", line.substring("event: ".length()));
      } else if (line.startsWith("data: ")) {
        var data = masked(parsed(line.substring("data: ".length())));
        if (data.get("error") instanceof ObjectNode error) {
          error.remove("message");
        }
        event.set("data", data);
      } else if (line.startsWith(": ")) {
        event.put("comment", true);
      }
    }
    return event;
  }

  /** Adds the text of {@code next} to {@code last} when nothing else sets them apart. */
  private static boolean joined(@Nullable JsonNode last, JsonNode next) {
    if (!(last instanceof ObjectNode head) || !next.at("/data/choices/1").isMissingNode()) {
      return false;
    }
    for (var piece : PIECES) {
      var at = "/data" + piece;
      if (!head.at(at).isTextual() || !next.at(at).isTextual()) {
        continue;
      }
      var one = head.deepCopy();
      var other = (ObjectNode) next.deepCopy();
      for (var each : List.of(one, other)) {
        withText(each, at, "");
        if (each.at("/data/choices/0/delta") instanceof ObjectNode delta) {
          delta.remove("role"); // of the first only
        }
      }
      if (one.at("/data/choices/0") instanceof ObjectNode choice
          && other.at("/data/choices/0") instanceof ObjectNode after
          && !choice.has("finish_reason")) {
        var finish = after.remove("finish_reason"); // of the last only
        if (one.equals(other)) {
          withText(head, at, head.at(at).asText() + next.at(at).asText());
          if (finish != null) {
            ((ObjectNode) head.at("/data/choices/0")).set("finish_reason", finish);
          }
          return true;
        }
      }
    }
    return false;
  }

  private static void withText(JsonNode event, String at, String text) {
    int name = at.lastIndexOf('/');
    ((ObjectNode) event.at(at.substring(0, name))).put(at.substring(name + 1), text);
  }

  private static JsonNode parsed(String body) {
    try {
      var json = JSON.readTree(body);
      return json == null || json.isMissingNode() ? JSON.getNodeFactory().textNode(body) : json;
    } catch (JsonProcessingException none) {
      return JSON.getNodeFactory().textNode(body);
    }
  }

  private static JsonNode masked(JsonNode json) {
    return masked(json, (name, _) -> VOLATILE.contains(name));
  }

  private static JsonNode masked(JsonNode json, BiPredicate<String, JsonNode> isVolatile) {
    if (json instanceof ArrayNode array) {
      var items = new ArrayList<JsonNode>();
      array.forEach(each -> items.add(masked(each, isVolatile)));
      return JSON.createArrayNode().addAll(items);
    }
    if (!(json instanceof ObjectNode object)) {
      return json;
    }
    var kept = JSON.createObjectNode();
    for (var field : object.properties()) {
      if (isVolatile.test(field.getKey(), field.getValue())) {
        kept.put(field.getKey(), field.getValue().getNodeType().toString());
      } else if (!(field.getKey().equals("finish_reason") && field.getValue().isNull())) {
        kept.set(field.getKey(), masked(field.getValue(), isVolatile));
      }
    }
    return kept;
  }
}
