package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.openai.wire.RelayedAnswer;
import io.dynamo.frontend.sse.ByteText;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes each chunk of a worker as an event.
 *
 * @param errorFor gives the error that the client sees for a failure
 * @param sent is called with each chunk
 */
record RelayFrames(
    RelayedAnswer answer,
    Function<DynamoException, ApiError> errorFor,
    Consumer<Map<String, @Nullable Object>> sent)
    implements ChunkEvents<Map<String, @Nullable Object>> {
  @Override
  public void item(Map<String, @Nullable Object> chunk, ByteText frames) {
    frames.ascii("data: ").append(answer.json(chunk)).ascii("\n\n");
    sent.accept(chunk);
  }
}
