package io.dynamo.wire.request;

import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The first header of an answer after the handshake: whether the worker accepted the request.
 * Always JSON.
 *
 * @param failure null when it did; without a typed error, as before 1.6, the worker counts as
 *     unreachable
 */
public record Prologue(@Nullable DynamoException failure) {
  private static final byte[] ACCEPTED = "{\"error\":null}".getBytes(StandardCharsets.US_ASCII);
  private static final Prologue TAKEN = new Prologue(null);

  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int ERROR = 0;
    static final int TYPED_ERROR = 1;
    static final Keys KEYS =
        new Keys(Keys.entry(ERROR, "error"), Keys.entry(TYPED_ERROR, "typed_error"));
  }

  /** Returns the header that announces items. */
  public static byte[] accepted() {
    return ACCEPTED.clone();
  }

  /** Returns the header that refuses the request: no items follow. */
  public static byte[] refused(Throwable cause) {
    var error = DynamoError.of(cause);
    return WireWriter.write(
        error,
        PayloadFormat.JSON,
        (out, it) -> {
          out.beginMap(2);
          out.key("error");
          out.string("Generate Error: " + it.message());
          out.key("typed_error");
          it.write(out);
          out.endMap();
        });
  }

  /**
   * @throws io.dynamo.error.InvalidRequestException when the bytes are not a prologue
   */
  public static Prologue ofJson(byte[] json) {
    if (Arrays.equals(json, ACCEPTED)) {
      return TAKEN;
    }
    return WireReader.read("prologue", ByteBuffer.wrap(json), PayloadFormat.JSON, Prologue::read);
  }

  private static Prologue read(WireReader in) throws IOException {
    String error = null;
    DynamoError typed = null;
    in.beginMap();
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case Field.ERROR -> error = in.string();
          case Field.TYPED_ERROR -> typed = DynamoError.read(in);
          default -> throw new IllegalStateException("key " + key);
        }
      }
    }
    if (typed != null) {
      return new Prologue(typed.toException());
    }
    return new Prologue(
        error == null
            ? null
            : new WorkerLostException(
                ErrorCode.CANNOT_CONNECT,
                "Worker generate() failed before response stream: " + error));
  }
}
