package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.openai.wire.ResponseItems;
import io.dynamo.frontend.responses.ResponseChain;
import io.dynamo.frontend.responses.ResponseStore;

/**
 * The bodies of answers about stored responses. What is loaded and parsed for one is charged to the
 * memory of its request before. Safe for concurrent use; its callers wait for the database.
 *
 * @param maxBytes of a whole conversation
 */
record StoredAnswers(ResponseStore store, long maxBytes) {
  /**
   * Returns a stored response as it was sent.
   *
   * @throws ApiException with 404 when there is none, with 503 when there is no room for it
   */
  byte[] response(String id, Deadline deadline, BodyBudget.Share share)
      throws InterruptedException {
    var found =
        store.find(id, deadline, share::chargeComplete).orElseThrow(() -> notFound(id)).answer();
    share.chargeComplete(found.length);
    return found;
  }

  /**
   * Returns a page of the items that a stored response was made of.
   *
   * @throws ApiException with 404 when a response of its conversation is not there
   */
  byte[] items(String id, ResponseItems.Page page, Deadline deadline, BodyBudget.Share share)
      throws InterruptedException {
    return switch (store.chain(id, maxBytes, deadline, share::chargeComplete)) {
      case ResponseChain.Complete(var turns) -> {
        var cost = new JsonCost();
        for (var turn : turns) {
          cost.add(turn.input(), turn.input().length);
          cost.add(turn.answer(), turn.answer().length);
        }
        share.chargeComplete(cost.workBytes());
        var body = ResponseItems.page(turns, page);
        share.chargeComplete(body.length);
        yield body;
      }
      case ResponseChain.Missing(var missing) -> throw notFound(missing);
      case ResponseChain.TooLong(var bound) ->
          throw new ApiException(400, "its conversation has more than " + bound);
    };
  }

  /**
   * Deletes a stored response.
   *
   * @throws ApiException with 404 when there is none, with 503 when the database does not answer
   */
  byte[] delete(String id, Deadline deadline) throws InterruptedException {
    if (!store.delete(id, deadline)) {
      throw notFound(id);
    }
    return ResponseItems.deleted(id);
  }

  private static ApiException notFound(String id) {
    return new ApiException(
        new ApiError(
            404,
            "Response with id '%s' not found.".formatted(ApiError.shown(id)),
            null,
            "id",
            null));
  }
}
