package io.dynamo.frontend.responses;

import java.util.List;

/** The result of looking for a response and all those that it continues. */
public sealed interface ResponseChain {
  /**
   * Found whole.
   *
   * @param turns the oldest first
   */
  record Complete(List<StoredResponse> turns) implements ResponseChain {
    public Complete {
      turns = List.copyOf(turns);
    }
  }

  /**
   * A response of it is not stored: it never was, was deleted, or is too old.
   *
   * @param id of that response
   */
  record Missing(String id) implements ResponseChain {}

  /**
   * It exceeds a bound.
   *
   * @param bound as in "more than {@code bound}"
   */
  record TooLong(String bound) implements ResponseChain {}
}
