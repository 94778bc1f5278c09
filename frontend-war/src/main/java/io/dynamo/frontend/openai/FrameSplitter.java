package io.dynamo.frontend.openai;

import io.dynamo.frontend.kserve.InferMessage;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Takes messages apart that are written after their lengths. Each write has whole frames. For one
 * thread.
 */
final class FrameSplitter extends OutputStream {
  private final Consumer<byte[]> messages;
  private boolean broken;

  /**
   * @param messages may throw {@link UncheckedIOException}
   */
  FrameSplitter(Consumer<byte[]> messages) {
    this.messages = messages;
  }

  /** Whether a message could not be passed on. */
  boolean isBroken() {
    return broken;
  }

  @Override
  public void write(int one) {
    throw new IllegalStateException("a frame is written as a whole");
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    int at = from;
    while (at < from + length) {
      int size = ByteBuffer.wrap(bytes).getInt(at);
      int begin = at + InferMessage.FRAME_HEAD;
      at = begin + size;
      try {
        messages.accept(Arrays.copyOfRange(bytes, begin, at));
      } catch (UncheckedIOException e) {
        broken = true;
        throw e.getCause();
      }
    }
  }
}
