package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.dispatch.AnswerItems;
import io.dynamo.frontend.openai.wire.MediaAnswer;
import io.dynamo.frontend.openai.wire.TaskRequest;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.frontend.sse.FrameEncoder;
import io.dynamo.inference.TaskOutput;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Writes the bytes of speech as they come. For one thread. */
final class SoundParts implements FrameEncoder<TaskOutput> {
  private static final TaskRequest.Kind KIND = TaskRequest.Kind.SPEECH;

  private final Consumer<TaskOutput> weigh;
  private byte @Nullable [] opening; // bytes that came before the stream was begun
  private String contentType = "";

  /**
   * @param weigh charges an item
   */
  SoundParts(Consumer<TaskOutput> weigh) {
    this.weigh = weigh;
  }

  /**
   * Waits for the first bytes, while a failure can still have its status line.
   *
   * @throws DynamoException when there will be none
   */
  void begin(TaskOutput first, AnswerItems<TaskOutput> items) throws InterruptedException {
    var item = first;
    while (item == null || (opening = sound(item)) == null) {
      if (items.ended()) {
        throw silent();
      }
      item = items.poll();
      if (item == null) {
        items.await(Long.MAX_VALUE / 4); // the deadline ends it
      }
    }
    contentType = MediaAnswer.soundType(MediaAnswer.fields(KIND, item));
  }

  /** The failure of a worker that gives no sound. */
  static EngineFailedException silent() {
    return new EngineFailedException(
        ErrorCode.BACKEND_UNKNOWN, "the worker's answer holds no sound", null);
  }

  private byte @Nullable [] sound(TaskOutput item) {
    weigh.accept(item);
    return MediaAnswer.bytes(KIND, MediaAnswer.fields(KIND, item));
  }

  /** The type of the first bytes. */
  String contentType() {
    return contentType;
  }

  @Override
  public void item(TaskOutput item, ByteText frames) {
    flushOpening(frames);
    var sound = sound(item);
    if (sound != null) {
      frames.append(sound);
    }
  }

  private void flushOpening(ByteText frames) {
    var first = opening;
    if (first != null) {
      opening = null;
      frames.append(first);
    }
  }

  @Override
  public void silence(ByteText frames) {}

  @Override
  public void end(ByteText frames) {
    flushOpening(frames);
  }

  @Override
  public void failure(DynamoException cause, ByteText frames) {
    flushOpening(frames); // then the connection is cut
  }
}
