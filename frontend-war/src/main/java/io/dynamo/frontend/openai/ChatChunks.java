package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.openai.wire.ChatAnswer;
import io.dynamo.frontend.postprocess.TextDelta;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.frontend.sse.FrameEncoder;

/** The frames of one streamed chat completion. For one thread. */
final class ChatChunks implements FrameEncoder<TextDelta> {
  private final ChatAnswer answer;
  private final ChatStream stream;
  private final boolean includeUsage;
  private final boolean continuousUsage;
  private boolean first = true;

  /**
   * @param stream whose items are encoded; asked for the usage
   */
  ChatChunks(ChatAnswer answer, ChatStream stream, boolean includeUsage, boolean continuousUsage) {
    this.answer = answer;
    this.stream = stream;
    this.includeUsage = includeUsage;
    this.continuousUsage = continuousUsage;
  }

  @Override
  public void item(TextDelta delta, ByteText frames) {
    if (!first && delta.text().isEmpty() && delta.finish() == null) {
      return;
    }
    answer.chunk(
        frames, delta.text(), first, delta.finish(), continuousUsage ? stream.usage() : null);
    first = false;
  }

  @Override
  public void end(ByteText frames) {
    if (includeUsage) {
      answer.usage(frames, stream.usage());
    }
    ChatAnswer.done(frames);
  }

  @Override
  public void failure(DynamoException cause, ByteText frames) {
    ApiError.of(cause).appendFrame(frames);
    ChatAnswer.done(frames);
  }
}
