package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.openai.wire.TensorFormat;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.frontend.sse.FrameEncoder;
import io.dynamo.inference.tensor.TensorResponse;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Writes each item of a worker's answer as a message.
 *
 * @param errorFor gives the error that the client sees for a failure
 * @param weigh charges an item
 */
record TensorFrames(
    TensorFormat format,
    Function<DynamoException, ApiError> errorFor,
    Consumer<TensorResponse> weigh)
    implements FrameEncoder<TensorResponse> {
  @Override
  public void item(TensorResponse item, ByteText frames) {
    weigh.accept(item);
    format.part(frames, item);
  }

  @Override
  public void silence(ByteText frames) {} // connections are probed by HTTP/2

  @Override
  public void end(ByteText frames) {
    format.end(frames);
  }

  @Override
  public void failure(DynamoException cause, ByteText frames) {
    format.failure(frames, errorFor.apply(cause));
  }
}
