package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.tensor.TensorResponse;

/** Writes the tensors of one answer for its client. For one thread. */
public interface TensorFormat {
  /** The memory that writing an answer takes at most, about. */
  long writtenBytes(TensorResponse response);

  /**
   * A whole answer.
   *
   * @throws io.dynamo.frontend.ApiException with 400 when the client asked for a form that its
   *     tensors do not have
   */
  byte[] whole(TensorResponse response);

  /** Appends an answer to a stream. */
  void part(ByteText frames, TensorResponse response);

  /** Appends what ends a stream. */
  void end(ByteText frames);

  /** Appends what ends a stream that has failed. */
  void failure(ByteText frames, ApiError error);
}
