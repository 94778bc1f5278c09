package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.openai.wire.ConversationJson;
import io.dynamo.frontend.openai.wire.ConversationRequest;
import io.dynamo.frontend.openai.wire.ResponseItems;
import io.dynamo.frontend.responses.Conversation;
import io.dynamo.frontend.responses.ConversationStore;
import io.dynamo.frontend.responses.ConversationTurn;
import io.dynamo.frontend.responses.LoadedConversation;
import io.dynamo.frontend.responses.ResponseStore;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The bodies of answers about conversations. What is loaded and parsed for one is charged to the
 * memory of its request before. Every method throws {@link ApiException} with 404 when the
 * conversation or item is not there, and with 503 when the database does not answer. Safe for
 * concurrent use; its callers wait for the database.
 *
 * @param maxBytes of a whole conversation
 */
record ConversationAnswers(ResponseStore responses, InstantSource clock, long maxBytes) {
  private static final String ID = "id";
  private static final String CODE = "conversation_not_found";
  private static final int DELETE_TRIES = 3;

  private ConversationStore store() {
    return responses.conversations();
  }

  /** Creates a conversation. */
  byte[] create(ConversationRequest wanted, Deadline deadline) throws InterruptedException {
    long now = clock.millis();
    var conversation =
        new Conversation(
            Conversation.newId(), now, Objects.requireNonNullElse(wanted.metadata(), "{}"));
    store().create(conversation, turn(conversation.id(), wanted.items()), deadline);
    return ConversationJson.conversation(conversation);
  }

  private @Nullable ConversationTurn turn(String conversation, byte @Nullable [] items) {
    if (items == null) {
      return null;
    }
    if (items.length > responses.maxInputBytes()) {
      throw new ApiException(
          new ApiError(
              400,
              "items of %d bytes exceed dynamo.frontend.responses.max-input %d; add fewer at once"
                  .formatted(items.length, responses.maxInputBytes()),
              "input_too_long_to_store",
              "items",
              null));
    }
    return new ConversationTurn(conversation, ConversationTurn.newId(), clock.millis(), items);
  }

  /** Returns a conversation without its items. */
  byte[] conversation(String id, Deadline deadline) throws InterruptedException {
    return ConversationJson.conversation(found(id, deadline));
  }

  private Conversation found(String id, Deadline deadline) throws InterruptedException {
    return store().find(id, deadline).orElseThrow(() -> notFound(id, ID));
  }

  /** Replaces the metadata of a conversation. */
  byte[] change(String id, ConversationRequest wanted, Deadline deadline)
      throws InterruptedException {
    var metadata = Objects.requireNonNullElse(wanted.metadata(), "{}");
    if (!store().setMetadata(id, metadata, deadline)) {
      throw notFound(id, ID);
    }
    return conversation(id, deadline);
  }

  /** Deletes a conversation with its items. */
  byte[] delete(String id, Deadline deadline) throws InterruptedException {
    if (!store().delete(id, deadline)) {
      throw notFound(id, ID);
    }
    return ConversationJson.deleted(id);
  }

  /**
   * Adds items to a conversation.
   *
   * @throws ApiException with 400 when it would be too long, too
   */
  byte[] add(String id, ConversationRequest wanted, Deadline deadline) throws InterruptedException {
    var turn = Objects.requireNonNull(turn(id, wanted.items()));
    switch (store().append(turn, maxBytes, deadline)) {
      case DONE -> {}
      case NO_CONVERSATION -> throw notFound(id, ID);
      case TOO_LONG -> throw tooLong(maxBytes, "items");
    }
    return ConversationJson.added(turn.items());
  }

  /** Returns a page of the items of a conversation. */
  byte[] items(String id, ResponseItems.Page page, Deadline deadline, BodyBudget.Share share)
      throws InterruptedException {
    var body = ConversationJson.page(loaded(id, deadline, share), page);
    share.chargeComplete(body.length);
    return body;
  }

  /** Returns an item of a conversation. */
  byte[] item(String id, String item, Deadline deadline, BodyBudget.Share share)
      throws InterruptedException {
    var body =
        ConversationJson.item(loaded(id, deadline, share), item)
            .orElseThrow(() -> itemNotFound(id, item));
    share.chargeComplete(body.length);
    return body;
  }

  /** Deletes an item of a conversation; returns the conversation. */
  byte[] deleteItem(String id, String item, Deadline deadline, BodyBudget.Share share)
      throws InterruptedException {
    for (int i = 0; i < DELETE_TRIES; i++) {
      if (!store().awaitWritten(id, deadline)) {
        throw new ApiException(
            ApiError.unavailable(
                "the conversation's last answer is not written yet", "response_store_down"));
      }
      var found = ConversationJson.without(loaded(id, deadline, share), item);
      if (found.isEmpty() && i == 0) {
        throw itemNotFound(id, item);
      }
      if (found.isEmpty() || store().replace(found.get().turn(), found.get().rest(), deadline)) {
        return conversation(id, deadline);
      }
    }
    throw new ApiException(
        new ApiError(
            409, "the conversation is being changed by others; ask again", null, null, null));
  }

  private List<ConversationTurn> loaded(String id, Deadline deadline, BodyBudget.Share share)
      throws InterruptedException {
    return switch (store().load(id, maxBytes, deadline, share::chargeComplete)) {
      case LoadedConversation.Complete(var _, var turns) -> {
        var cost = new JsonCost();
        for (var turn : turns) {
          cost.add(turn.items(), turn.items().length);
        }
        share.chargeComplete(cost.workBytes());
        yield turns;
      }
      case LoadedConversation.Missing() -> throw notFound(id, ID);
      case LoadedConversation.TooLong() -> throw tooLong(maxBytes, ID);
    };
  }

  /** The refusal of an id that is none of a conversation. */
  static ApiException notFound(String id, String param) {
    return new ApiException(
        new ApiError(
            404,
            "Conversation with id '%s' not found.".formatted(ApiError.shown(id)),
            CODE,
            param,
            null));
  }

  private static ApiException itemNotFound(String id, String item) {
    return new ApiException(
        new ApiError(
            404,
            "Item with id '%s' not found in conversation '%s'."
                .formatted(ApiError.shown(item), ApiError.shown(id)),
            "item_not_found",
            "item_id",
            null));
  }

  /** The refusal of a conversation with too many bytes. */
  static ApiException tooLong(long maxBytes, String param) {
    return new ApiException(
        new ApiError(
            400,
            "the conversation has more than %d bytes; delete items, or begin a new one"
                .formatted(maxBytes),
            "conversation_too_long",
            param,
            null));
  }
}
