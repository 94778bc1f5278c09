package io.dynamo.frontend.openai.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.responses.Conversation;
import io.dynamo.frontend.responses.ConversationTurn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Writes and reads conversations and their items, in the form of OpenAI's API. */
public final class ConversationJson {
  private static final String ID = "id";

  private ConversationJson() {}

  /** Writes a conversation. */
  public static byte[] conversation(Conversation conversation) {
    var json =
        JsonText.MAPPER
            .createObjectNode()
            .put(ID, conversation.id())
            .put("object", "conversation")
            .put("created_at", TimeUnit.MILLISECONDS.toSeconds(conversation.createdMillis()));
    return ResponseItems.write(
        json.set("metadata", ResponseItems.read(conversation.metadata().getBytes(UTF_8))));
  }

  /** Writes the answer to a deletion. */
  public static byte[] deleted(String id) {
    return ResponseItems.write(
        JsonText.MAPPER
            .createObjectNode()
            .put(ID, id)
            .put("object", "conversation.deleted")
            .put("deleted", true));
  }

  /** Joins the items of a request and those of its answer, a JSON array and the inside of one. */
  public static byte[] joined(byte[] input, byte[] output) {
    if (output.length == 0) {
      return input;
    }
    int end = input.length - 1; // of the items, before the bracket
    boolean comma = input[end - 1] != '[';
    var joined = Arrays.copyOf(input, end + (comma ? 1 : 0) + output.length + 1);
    int at = end;
    if (comma) {
      joined[at++] = ',';
    }
    System.arraycopy(output, 0, joined, at, output.length);
    joined[joined.length - 1] = ']';
    return joined;
  }

  /** Reads the items of turns, in their order. */
  public static List<JsonNode> items(List<ConversationTurn> turns) {
    var items = new ArrayList<JsonNode>();
    for (var turn : turns) {
      ResponseItems.read(turn.items()).forEach(items::add);
    }
    return items;
  }

  /**
   * Writes a page of items.
   *
   * @throws io.dynamo.frontend.ApiException with 400 when the page begins after an item that is not
   *     there
   */
  public static byte[] page(List<ConversationTurn> turns, ResponseItems.Page page) {
    var all = items(turns);
    if (page.descending()) {
      Collections.reverse(all);
    }
    return ResponseItems.page(all, page, ConversationJson::shown);
  }

  /** Writes the list of items that were added. */
  public static byte[] added(byte[] items) {
    var all = new ArrayList<JsonNode>();
    ResponseItems.read(items).forEach(all::add);
    return ResponseItems.page(
        all, new ResponseItems.Page(null, all.size(), false), ConversationJson::shown);
  }

  /** Writes one item; empty without it. */
  public static Optional<byte[]> item(List<ConversationTurn> turns, String id) {
    return items(turns).stream()
        .filter(it -> id.equals(it.path(ID).asText()))
        .findFirst()
        .map(it -> ResponseItems.write(shown(it)));
  }

  /**
   * A turn without one of its items.
   *
   * @param rest JSON array in UTF-8; null when nothing is left
   */
  public record Shortened(ConversationTurn turn, byte @Nullable [] rest) {}

  /** Removes an item from the turn that has it; empty when none has. */
  public static Optional<Shortened> without(List<ConversationTurn> turns, String id) {
    for (var turn : turns) {
      var rest = JsonText.MAPPER.createArrayNode();
      var all = ResponseItems.read(turn.items());
      boolean found = false;
      for (var item : all) {
        if (!found && id.equals(item.path(ID).asText())) {
          found = true;
        } else {
          rest.add(item);
        }
      }
      if (found) {
        return Optional.of(new Shortened(turn, rest.isEmpty() ? null : ResponseItems.write(rest)));
      }
    }
    return Optional.empty();
  }

  /** Puts an item into the form in which the API returns it: a type, a status, parts for a text. */
  private static JsonNode shown(JsonNode item) {
    if (!(item instanceof ObjectNode given)) {
      return item;
    }
    var shown = given.deepCopy();
    if (!shown.hasNonNull("type")) {
      shown.put("type", "message");
    }
    if (!shown.hasNonNull("status") && !"reasoning".equals(shown.path("type").asText())) {
      shown.put("status", "completed");
    }
    var content = shown.get("content");
    if ("message".equals(shown.path("type").asText()) && content != null && content.isTextual()) {
      boolean said = "assistant".equals(shown.path("role").asText());
      var part = shown.putArray("content").addObject();
      part.put("type", said ? "output_text" : "input_text").set("text", content);
      if (said) {
        part.putArray("annotations");
      }
    }
    return shown;
  }
}
