package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.openai.wire.AnswerRecorder;
import io.dynamo.frontend.openai.wire.Continuation;
import io.dynamo.frontend.openai.wire.ConversationJson;
import io.dynamo.frontend.openai.wire.InnerJson;
import io.dynamo.frontend.openai.wire.ResponseItems;
import io.dynamo.frontend.openai.wire.ResponsesReader;
import io.dynamo.frontend.responses.ConversationTurn;
import io.dynamo.frontend.responses.LoadedConversation;
import io.dynamo.frontend.responses.ResponseChain;
import io.dynamo.frontend.responses.ResponseIds;
import io.dynamo.frontend.responses.ResponseStore;
import io.dynamo.frontend.responses.StoredResponse;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds what requests of the Responses API continue, a response or a conversation, and prepares to
 * keep their answers. Safe for concurrent use; its callers wait for the database only when they
 * continue something.
 */
final class Continuations {
  private static final String PREVIOUS = "previous_response_id";
  private static final String CONVERSATION = "conversation";

  private final ResponseStore store;
  private final InstantSource clock;
  private final long maxBytes;

  /**
   * @param maxBytes of all that is continued: as long as the body that would hold it may be
   */
  Continuations(ResponseStore store, InstantSource clock, long maxBytes) {
    this.store = store;
    this.clock = clock;
    this.maxBytes = maxBytes;
  }

  /**
   * Returns what a request continues, and how its answer is kept.
   *
   * @param stores whether the request generates an answer
   * @param cost of the request's body; grows by what is found
   * @throws ApiException with 400 when there is no such response or the input is too long to be
   *     stored, with 404 when there is no such conversation, with 503 when the database or memory
   *     cannot answer
   */
  Continuation open(
      JsonNode body, boolean stores, Deadline deadline, JsonCost cost, BodyBudget.Share share)
      throws InterruptedException {
    if (!store.isOn()) {
      return Continuation.NONE;
    }
    var previous = body.path(PREVIOUS).isTextual() ? body.path(PREVIOUS).textValue() : null;
    var conversation = ResponsesReader.conversation(body);
    ResponseStore.Room room = more -> share.chargeComplete(cost.workBytes() + more);
    List<JsonNode> earlier = List.of();
    if (conversation != null) {
      earlier = items(conversation, deadline, cost, room, share);
    } else if (previous != null) {
      earlier = items(chain(store.chain(previous, maxBytes, deadline, room)), cost, share);
    }
    earlier.forEach(item -> InnerJson.addTo(cost, item));
    share.chargeComplete(cost.workBytes());
    var recorder = stores ? recorder(body, new Place(previous, conversation), cost, share) : null;
    return new Continuation(
        earlier,
        previous != null || conversation != null,
        recorder,
        recorder == null ? 0 : recorder.heldBytes());
  }

  /** Where an answer belongs; each is null for nowhere. */
  private record Place(@Nullable String previous, @Nullable String conversation) {}

  private static List<JsonNode> items(
      List<StoredResponse> turns, JsonCost cost, BodyBudget.Share share) {
    for (var turn : turns) {
      cost.add(turn.input(), turn.input().length);
      cost.add(turn.answer(), turn.answer().length);
    }
    share.chargeComplete(cost.workBytes());
    return ResponseItems.of(turns);
  }

  private List<JsonNode> items(
      String id, Deadline deadline, JsonCost cost, ResponseStore.Room room, BodyBudget.Share share)
      throws InterruptedException {
    return switch (store.conversations().load(id, maxBytes, deadline, room)) {
      case LoadedConversation.Complete(var _, var turns) -> {
        for (var turn : turns) {
          cost.add(turn.items(), turn.items().length);
        }
        share.chargeComplete(cost.workBytes());
        yield ConversationJson.items(turns);
      }
      case LoadedConversation.Missing() -> throw ConversationAnswers.notFound(id, CONVERSATION);
      case LoadedConversation.TooLong() ->
          throw ConversationAnswers.tooLong(maxBytes, CONVERSATION);
    };
  }

  private List<StoredResponse> chain(ResponseChain chain) {
    return switch (chain) {
      case ResponseChain.Complete(var turns) -> turns;
      case ResponseChain.Missing(var id) ->
          throw refuse(
              PREVIOUS,
              "previous_response_not_found",
              "Previous response with id '%s' not found.%s"
                  .formatted(
                      ApiError.shown(id),
                      store.storesByDefault()
                          ? ""
                          : " Responses are stored where their request says `\"store\": true`."));
      case ResponseChain.TooLong(var bound) ->
          throw refuse(
              PREVIOUS,
              "conversation_too_long",
              "the conversation that this response continues has more than %s; begin a new one"
                  .formatted(bound));
    };
  }

  private @Nullable Recording recorder(
      JsonNode body, Place place, JsonCost cost, BodyBudget.Share share) {
    var wish = body.path("store");
    boolean asked = wish.isBoolean() && wish.booleanValue();
    boolean stores = asked || (!wish.isBoolean() && store.storesByDefault());
    if (!stores && place.conversation() == null) {
      return null;
    }
    share.chargeComplete(cost.workBytes() + ResponseItems.inputCost(body, cost.length()));
    var input = ResponseItems.input(body);
    if (input.length <= store.maxInputBytes()) {
      return new Recording(store, clock, ResponseIds.next(), place, stores, input);
    }
    if (asked || place.conversation() != null) {
      throw refuse(
          asked ? "store" : CONVERSATION,
          "input_too_long_to_store",
          "an input of %d bytes exceeds dynamo.frontend.responses.max-input %d; shorten it, or say `\"store\": false` without a conversation"
              .formatted(input.length, store.maxInputBytes()));
    }
    return null; // the answer says so
  }

  private static ApiException refuse(String param, String code, String message) {
    return new ApiException(new ApiError(400, message, code, param, null));
  }

  /** Keeps the answer to one request. */
  private record Recording(
      ResponseStore store,
      InstantSource clock,
      String id,
      Place place,
      boolean storesResponse,
      byte[] input)
      implements AnswerRecorder {
    long heldBytes() {
      return input.length * (place.conversation() == null ? 1L : 2L);
    }

    @Override
    public void record(byte[] answer, byte[] output) {
      long now = clock.millis();
      var response =
          storesResponse ? new StoredResponse(id, place.previous(), now, input, answer) : null;
      var conversation = place.conversation();
      if (conversation != null) {
        var items = ConversationJson.joined(input, output);
        store.append(new ConversationTurn(conversation, id, now, items), response);
      } else if (response != null) {
        store.store(response);
      }
    }
  }
}
