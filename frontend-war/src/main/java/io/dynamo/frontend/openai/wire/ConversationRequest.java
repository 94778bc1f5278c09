package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ApiException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request to create or to change a conversation.
 *
 * @param items to be added, each with an id: a JSON array in UTF-8; null for none
 * @param metadata a JSON object; null where the request omits it
 */
public record ConversationRequest(byte @Nullable [] items, @Nullable String metadata) {
  private static final String ITEMS = "items";
  private static final String METADATA = "metadata";
  private static final int MAX_ITEMS = 20;

  /** The kinds of requests, which differ in their fields. */
  public enum Kind {
    CREATION,
    CHANGE,
    ADDITION;

    private List<String> fields() {
      return switch (this) {
        case CREATION -> List.of(ITEMS, METADATA);
        case CHANGE -> List.of(METADATA);
        case ADDITION -> List.of(ITEMS);
      };
    }
  }

  /**
   * Reads and checks a body.
   *
   * @throws ApiException with 400, also for items that no request for a response could have
   */
  public static ConversationRequest read(JsonNode body, Kind kind) {
    var fields = JsonFields.of(body, "");
    fields.onlyKnown(kind.fields());
    if (kind == Kind.CHANGE) {
      fields.require(METADATA);
    }
    var metadata = fields.get(METADATA);
    return new ConversationRequest(
        kind == Kind.CHANGE ? null : items(fields, kind == Kind.ADDITION),
        metadata == null ? null : Metadata.checked(metadata));
  }

  private static byte @Nullable [] items(JsonFields fields, boolean required) {
    var items = required ? fields.require(ITEMS) : fields.get(ITEMS);
    if (items == null) {
      return null;
    }
    if (!items.isArray()) {
      throw JsonFields.wrong(ITEMS, items, "a sequence");
    }
    if (items.size() > MAX_ITEMS || (required && items.isEmpty())) {
      throw GenerationReader.refuse(
          ITEMS,
          "`items` has %d items, but must have %s to %d; add more by further requests"
              .formatted(items.size(), required ? "1" : "0", MAX_ITEMS));
    }
    ResponsesInput.check(items, ITEMS);
    return items.isEmpty() ? null : ResponseItems.named(items);
  }
}
