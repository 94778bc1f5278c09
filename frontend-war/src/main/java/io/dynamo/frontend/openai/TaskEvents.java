package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.openai.wire.MediaAnswer;
import io.dynamo.frontend.openai.wire.TaskRequest;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.TaskOutput;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Writes each item of a worker's answer as an event.
 *
 * @param errorFor gives the error that the client sees for a failure
 * @param weigh charges an item
 */
record TaskEvents(
    TaskRequest.Kind kind, Function<DynamoException, ApiError> errorFor, Consumer<TaskOutput> weigh)
    implements ChunkEvents<TaskOutput> {
  @Override
  public void item(TaskOutput item, ByteText frames) {
    weigh.accept(item);
    var json = MediaAnswer.json(kind, MediaAnswer.fields(kind, item));
    frames.ascii("data: ").append(json).ascii("\n\n");
  }
}
