package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.frontend.openai.wire.MediaAnswer;
import io.dynamo.frontend.openai.wire.TaskRequest;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.frontend.sse.FrameEncoder;
import io.dynamo.inference.TaskOutput;
import java.util.function.Consumer;

/**
 * Writes the pictures of a video as motion JPEG: a part of a multipart body for each. Pictures that
 * cannot be decoded are left out, as in Dynamo.
 *
 * @param weigh charges an item
 */
record VideoFrames(Consumer<TaskOutput> weigh) implements FrameEncoder<TaskOutput> {
  static final String CONTENT_TYPE = "multipart/x-mixed-replace; boundary=frame";

  @Override
  public void item(TaskOutput item, ByteText frames) {
    weigh.accept(item);
    var frame = MediaAnswer.frame(MediaAnswer.fields(TaskRequest.Kind.VIDEO_FRAMES, item));
    if (frame != null) {
      frames
          .ascii("--frame\r\nContent-Type: image/jpeg\r\nContent-Length: ")
          .number(frame.length)
          .ascii("\r\n\r\n")
          .append(frame)
          .ascii("\r\n");
    }
  }

  @Override
  public void silence(ByteText frames) {}

  @Override
  public void end(ByteText frames) {
    // a stream of parts ends with its last part
  }

  @Override
  public void failure(DynamoException cause, ByteText frames) {
    // the connection is cut
  }
}
