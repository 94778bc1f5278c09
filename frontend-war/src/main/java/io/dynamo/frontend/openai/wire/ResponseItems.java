package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.responses.StoredResponse;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Writes and reads the items of stored responses. */
public final class ResponseItems {
  private static final int NAMED_ITEM_BYTES = 640; // a copy of its object, and its id, as text too

  private ResponseItems() {}

  /**
   * The memory that {@link #input} takes at its peak, at most.
   *
   * @param length of the body as text
   */
  public static long inputCost(JsonNode body, long length) {
    return 2 * length + NAMED_ITEM_BYTES * (1L + body.path("input").size());
  }

  /**
   * Writes the items of a request's own input, each with an id, as a JSON array in UTF-8. An input
   * that is no text and no list becomes an empty one; the request's reader refuses it.
   */
  public static byte[] input(JsonNode body) {
    var items = JsonText.MAPPER.createArrayNode();
    var input = body.path("input");
    if (input.isTextual()) {
      var message = items.addObject().put("type", "message").put("role", "user");
      message.putArray("content").addObject().put("type", "input_text").set("text", input);
    } else if (input.isArray()) {
      input.forEach(items::add);
    }
    return named(items);
  }

  /** Writes items, each with an id, as a JSON array in UTF-8. */
  static byte[] named(JsonNode given) {
    var items = JsonText.MAPPER.createArrayNode();
    for (var item : given) {
      items.add(item instanceof ObjectNode it && !it.hasNonNull("id") ? named(it) : item);
    }
    return write(items);
  }

  private static ObjectNode named(ObjectNode item) {
    var prefix =
        switch (item.path("type").asText("message")) {
          case "function_call" -> "fc_";
          case "function_call_output" -> "fco_";
          case "reasoning" -> "rs_";
          default -> "msg_";
        };
    var named = JsonText.MAPPER.createObjectNode();
    named.put("id", prefix + UUID.randomUUID().toString().replace("-", ""));
    return named.setAll(item);
  }

  /**
   * Reads the items of turns, input and output, in their order.
   *
   * @throws ApiException with 400 when one of them belongs to a conversation
   */
  public static List<JsonNode> of(List<StoredResponse> turns) {
    var items = new ArrayList<JsonNode>();
    for (var turn : turns) {
      read(turn.input()).forEach(items::add);
      var answer = read(turn.answer());
      var conversation = answer.path("conversation").path("id");
      if (conversation.isTextual()) { // whose items it does not repeat
        throw new ApiException(
            new ApiError(
                400,
                "response %s belongs to a conversation; continue that by `\"conversation\": \"%s\"`"
                    .formatted(turn.id(), conversation.textValue()),
                "response_in_conversation",
                "previous_response_id",
                null));
      }
      answer.path("output").forEach(items::add);
    }
    return items;
  }

  /**
   * A page of a list of items.
   *
   * @param after the id of the item before the first; null for the beginning
   * @param limit items on the page
   */
  public record Page(@Nullable String after, int limit, boolean descending) {
    private static final int STANDARD = 20;
    private static final int MOST = 100;

    /**
     * Reads the parameters of a request; null is absent.
     *
     * @throws ApiException with 400
     */
    public static Page of(@Nullable String after, @Nullable String limit, @Nullable String order) {
      int count = STANDARD;
      if (limit != null) {
        if (!limit.matches("\\d{1,3}")
            || Integer.parseInt(limit) < 1
            || Integer.parseInt(limit) > MOST) {
          throw refuse("limit", limit, "a number from 1 to " + MOST);
        }
        count = Integer.parseInt(limit);
      }
      if (order != null && !order.equals("asc") && !order.equals("desc")) {
        throw refuse("order", order, "asc or desc");
      }
      return new Page(after, count, !"asc".equals(order));
    }

    private static ApiException refuse(String name, String value, String expected) {
      return new ApiException(
          new ApiError(
              400,
              "`%s` is \"%s\", but must be %s".formatted(name, JsonFields.clipped(value), expected),
              null,
              name,
              null));
    }
  }

  /**
   * Writes the page of the input items of a response, in the form of OpenAI's lists.
   *
   * @param turns a conversation; its last turn is the response itself
   * @throws ApiException with 400 when the page begins after an item that is not there
   */
  public static byte[] page(List<StoredResponse> turns, Page page) {
    var all = new ArrayList<>(of(turns.subList(0, turns.size() - 1)));
    read(turns.getLast().input()).forEach(all::add);
    if (page.descending()) {
      Collections.reverse(all);
    }
    return page(all, page, item -> item);
  }

  /**
   * Writes a page of {@code all}, which is in the order of the page.
   *
   * @param form changes each item of the page
   */
  static byte[] page(List<JsonNode> all, Page page, UnaryOperator<JsonNode> form) {
    int from = 0;
    if (page.after() != null) {
      from = 1 + all.stream().map(it -> it.path("id").asText()).toList().indexOf(page.after());
      if (from == 0) {
        throw Page.refuse("after", page.after(), "the id of one of the items");
      }
    }
    int to = Math.min(all.size(), from + page.limit());
    var list = JsonText.MAPPER.createObjectNode().put("object", "list");
    var data = list.putArray("data");
    all.subList(from, to).forEach(item -> data.add(form.apply(item)));
    list.set("first_id", data.path(0).path("id"));
    list.set("last_id", data.path(data.size() - 1).path("id"));
    if (data.isEmpty()) {
      list.putNull("first_id").putNull("last_id");
    }
    return write(list.put("has_more", to < all.size()));
  }

  /** Writes the answer to a deletion. */
  public static byte[] deleted(String id) {
    return write(
        JsonText.MAPPER
            .createObjectNode()
            .put("id", id)
            .put("object", "response")
            .put("deleted", true));
  }

  static JsonNode read(byte[] json) {
    try {
      return JsonText.parse(new String(json, StandardCharsets.UTF_8));
    } catch (JsonText.Malformed e) {
      throw new IllegalStateException("a stored response is not JSON" + e.place());
    }
  }

  static byte[] write(JsonNode tree) {
    try {
      return JsonText.MAPPER.writeValueAsBytes(tree);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e); // a tree that was parsed can be written
    }
  }
}
