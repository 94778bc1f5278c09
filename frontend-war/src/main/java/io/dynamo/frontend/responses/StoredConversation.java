package io.dynamo.frontend.responses;

import java.util.List;

/** The result of looking for a response and all those that it continues. */
public sealed interface StoredConversation {
  /**
   * Found whole.
   *
   * @param turns the oldest first
   */
  record Complete(List<StoredResponse> turns) implements StoredConversation {
    public Complete {
      turns = List.copyOf(turns);
    }
  }

  /**
   * A response of it is not stored: it never was, was deleted, or is too old.
   *
   * @param id of that response
   */
  record Missing(String id) implements StoredConversation {}

  /**
   * It exceeds a bound.
   *
   * @param bound as in "more than {@code bound}"
   */
  record TooLong(String bound) implements StoredConversation {}
}
