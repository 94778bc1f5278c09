package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.openai.wire.ChunkFormat;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.frontend.sse.FrameEncoder;
import java.util.function.Function;

/** Events of a worker's own objects, which end with {@code [DONE]}, also after a failure. */
interface ChunkEvents<T> extends FrameEncoder<T> {
  /** Gives the error that the client sees for a failure. */
  Function<DynamoException, ApiError> errorFor();

  @Override
  default void end(ByteText frames) {
    ChunkFormat.done(frames);
  }

  @Override
  default void failure(DynamoException cause, ByteText frames) {
    errorFor().apply(cause).appendFrame(frames);
    ChunkFormat.done(frames);
  }
}
