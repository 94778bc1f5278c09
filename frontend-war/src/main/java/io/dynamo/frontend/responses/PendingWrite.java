package io.dynamo.frontend.responses;

import org.jspecify.annotations.Nullable;

/**
 * The rows of one answer that are not written yet.
 *
 * @param id of the answer
 * @param response null when the response itself is not stored
 * @param turn what it adds to a conversation; null for nothing
 */
record PendingWrite(String id, @Nullable StoredResponse response, @Nullable ConversationTurn turn) {
  /** About how much room it takes. */
  long bytes() {
    return (response == null ? 0 : response.bytes()) + (turn == null ? 0 : turn.bytes());
  }
}
