package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.openai.wire.AnswerRecorder;
import io.dynamo.frontend.openai.wire.Continuation;
import io.dynamo.frontend.openai.wire.InnerJson;
import io.dynamo.frontend.openai.wire.ResponseItems;
import io.dynamo.frontend.responses.ResponseIds;
import io.dynamo.frontend.responses.ResponseStore;
import io.dynamo.frontend.responses.StoredConversation;
import io.dynamo.frontend.responses.StoredResponse;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the conversations that requests of the Responses API continue, and prepares to store their
 * answers. Safe for concurrent use; its callers wait for the database only when they continue a
 * conversation.
 */
final class Conversations {
  private static final String PREVIOUS = "previous_response_id";

  private final ResponseStore store;
  private final InstantSource clock;
  private final long maxBytes;

  /**
   * @param maxBytes of a whole conversation: as long as the body that would hold it may be
   */
  Conversations(ResponseStore store, InstantSource clock, long maxBytes) {
    this.store = store;
    this.clock = clock;
    this.maxBytes = maxBytes;
  }

  /**
   * Returns the conversation that a request continues, and how its answer is stored.
   *
   * @param stores whether the request generates an answer
   * @param cost of the request's body; grows by what is found
   * @throws ApiException with 400 when there is no such response or the input is too long to be
   *     stored, with 503 when the database or memory cannot answer
   */
  Continuation open(
      JsonNode body, boolean stores, Deadline deadline, JsonCost cost, BodyBudget.Share share)
      throws InterruptedException {
    if (!store.isOn()) {
      return Continuation.NONE;
    }
    var previous = body.path(PREVIOUS).isTextual() ? body.path(PREVIOUS).textValue() : null;
    List<StoredResponse> turns =
        previous == null
            ? List.of()
            : found(
                store.conversation(
                    previous,
                    maxBytes,
                    deadline,
                    more -> share.chargeComplete(cost.workBytes() + more)));
    if (!turns.isEmpty()) {
      for (var turn : turns) {
        cost.add(turn.input(), turn.input().length);
        cost.add(turn.answer(), turn.answer().length);
      }
      share.chargeComplete(cost.workBytes());
    }
    var earlier = ResponseItems.of(turns);
    earlier.forEach(item -> InnerJson.addTo(cost, item));
    share.chargeComplete(cost.workBytes());
    var recorder = stores ? recorder(body, previous, cost, share) : null;
    return new Continuation(
        earlier, previous != null, recorder, recorder == null ? 0 : recorder.input().length);
  }

  private List<StoredResponse> found(StoredConversation conversation) {
    return switch (conversation) {
      case StoredConversation.Complete(var turns) -> turns;
      case StoredConversation.Missing(var id) ->
          throw refuse(
              PREVIOUS,
              "previous_response_not_found",
              "Previous response with id '%s' not found.%s"
                  .formatted(
                      ApiError.shown(id),
                      store.storesByDefault()
                          ? ""
                          : " Responses are stored where their request says `\"store\": true`."));
      case StoredConversation.TooLong(var bound) ->
          throw refuse(
              PREVIOUS,
              "conversation_too_long",
              "the conversation that this response continues has more than %s; begin a new one"
                  .formatted(bound));
    };
  }

  private @Nullable Recording recorder(
      JsonNode body, @Nullable String previous, JsonCost cost, BodyBudget.Share share) {
    var wish = body.path("store");
    boolean asked = wish.isBoolean() && wish.booleanValue();
    if (!asked && (wish.isBoolean() || !store.storesByDefault())) {
      return null;
    }
    share.chargeComplete(cost.workBytes() + ResponseItems.inputCost(body, cost.length()));
    var input = ResponseItems.input(body);
    if (input.length <= store.maxInputBytes()) {
      return new Recording(store, clock, ResponseIds.next(), previous, input);
    }
    if (asked) {
      throw refuse(
          "store",
          "input_too_long_to_store",
          "an input of %d bytes exceeds dynamo.frontend.responses.max-input %d; shorten it, or say `\"store\": false`"
              .formatted(input.length, store.maxInputBytes()));
    }
    return null; // the answer says so
  }

  private static ApiException refuse(String param, String code, String message) {
    return new ApiException(new ApiError(400, message, code, param, null));
  }

  /** Stores the answer to one request. */
  private record Recording(
      ResponseStore store,
      InstantSource clock,
      String id,
      @Nullable String previousId,
      byte[] input)
      implements AnswerRecorder {
    @Override
    public void record(byte[] answer) {
      store.store(new StoredResponse(id, previousId, clock.millis(), input, answer));
    }
  }
}
