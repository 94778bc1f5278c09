package io.dynamo.wire.request;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP status and text that an exception of a worker's engine stated: Dynamo's workers write
 * them as JSON, {@code {"message":"…","code":404}}, where other errors have their message.
 *
 * @param code the worker's number, unchecked
 */
record StatedStatus(int code, String message) {
  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int MESSAGE = 0;
    static final int CODE = 1;
    static final Keys KEYS = new Keys(Keys.entry(MESSAGE, "message"), Keys.entry(CODE, "code"));
  }

  private static final int MAX_CHARS = 64 * 1024; // of the JSON that is looked at

  /** Reads the status that {@code message} states; null when it is not such JSON. */
  static @Nullable StatedStatus of(String message) {
    if (!message.startsWith("{") || message.length() > MAX_CHARS) {
      return null;
    }
    var bytes = ByteBuffer.wrap(message.getBytes(StandardCharsets.UTF_8));
    try {
      return WireReader.read("stated status", bytes, PayloadFormat.JSON, StatedStatus::read);
    } catch (InvalidRequestException notStated) {
      return null;
    }
  }

  private static StatedStatus read(WireReader in) throws IOException {
    String message = null;
    int code = 0;
    in.beginMap();
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      switch (key) {
        case Field.MESSAGE -> message = in.string();
        case Field.CODE -> code = in.smallInteger();
        default -> in.skip();
      }
    }
    if (message == null || code == 0) {
      throw new IOException("no message, or no code");
    }
    return new StatedStatus(code, message);
  }
}
