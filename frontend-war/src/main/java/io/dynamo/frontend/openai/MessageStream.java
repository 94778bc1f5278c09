package io.dynamo.frontend.openai;

import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** The bytes of a message, which are let go once they are read. For one thread. */
final class MessageStream extends InputStream {
  private byte @Nullable [] message;
  private final Runnable onRead;
  private int at;

  /**
   * @param onRead runs when the bytes are let go
   */
  MessageStream(byte[] message, Runnable onRead) {
    this.message = message;
    this.onRead = onRead;
  }

  @Override
  public int read() {
    var one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) {
    if (message == null) {
      return -1;
    }
    int count = Math.min(length, message.length - at);
    if (count == 0 && length > 0) {
      message = null;
      onRead.run();
      return -1;
    }
    System.arraycopy(message, at, into, offset, count);
    at += count;
    return count;
  }
}
