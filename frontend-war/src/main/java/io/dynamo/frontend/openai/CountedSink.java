package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import org.jspecify.annotations.Nullable;

/** A sink that learns how its request ended, once, after its answer. */
interface CountedSink extends AnswerSink {
  /**
   * @param error that the client got; null for success
   */
  void ended(@Nullable ApiError error);
}
