package io.dynamo.frontend.kserve;

import io.dynamo.frontend.sse.ByteText;
import java.util.List;
import java.util.function.Function;

/** Writes the protobuf messages {@code ModelInferResponse} and {@code ModelStreamInferResponse}. */
public final class InferMessage {
  /** The field of a streamed answer that holds the response. */
  public static final int STREAMED_RESPONSE = 2;

  /** The bytes of a frame before its message: its length, the highest byte first. */
  public static final int FRAME_HEAD = 4;

  private static final int STREAMED_ERROR = 1;
  private static final int MODEL_NAME = 1;
  private static final int MODEL_VERSION = 2;
  private static final int ID = 3;
  private static final int PARAMETERS = 4;
  private static final int OUTPUTS = 5;
  private static final int RAW_CONTENTS = 6;
  private static final int KEY = 1;
  private static final int VALUE = 2;
  private static final int BOOL_PARAM = 1;
  private static final int NAME = 1;
  private static final int DATATYPE = 2;
  private static final int SHAPE = 3;
  private static final int CONTENTS = 5;
  private static final int BYTES_CONTENTS = 8;

  private InferMessage() {}

  /** Appends the fields that each response begins with. */
  public static void head(ProtoBuffer message, String model, String version, String id) {
    message.string(MODEL_NAME, model).string(MODEL_VERSION, version).string(ID, id);
  }

  /** Appends a parameter of the response. */
  public static void parameter(ProtoBuffer message, String name, boolean value) {
    int entry = message.open(PARAMETERS);
    message.string(KEY, name);
    int choice = message.open(VALUE);
    message.varint(BOOL_PARAM, value ? 1 : 0);
    message.close(choice);
    message.close(entry);
  }

  /**
   * Appends an output of the type BYTES with one element for each of {@code values}.
   *
   * @param raw leaves the contents out, which {@link #rawStrings} appends
   */
  public static <T> void strings(
      ProtoBuffer message, String name, List<T> values, Function<T, String> text, boolean raw) {
    int output = message.open(OUTPUTS);
    message.string(NAME, name).string(DATATYPE, "BYTES");
    int shape = message.open(SHAPE);
    message.rawVarint(values.size());
    message.close(shape);
    if (!raw) {
      int contents = message.open(CONTENTS);
      for (var value : values) {
        message.element(BYTES_CONTENTS, text.apply(value));
      }
      message.close(contents);
    }
    message.close(output);
  }

  /** Appends the contents of an output as bytes; in the order of the outputs. */
  public static <T> void rawStrings(ProtoBuffer message, List<T> values, Function<T, String> text) {
    int contents = message.open(RAW_CONTENTS);
    for (var value : values) {
      message.rawString(text.apply(value));
    }
    message.close(contents);
  }

  /** Appends the fields of a streamed answer that says what failed. */
  public static void streamedError(ProtoBuffer message, String error) {
    message.string(STREAMED_ERROR, error);
  }

  /** Appends the message as a frame. */
  public static void frame(ProtoBuffer message, ByteText frames) {
    int length = message.size();
    frames.append(
        new byte[] {
          (byte) (length >>> 24), (byte) (length >>> 16), (byte) (length >>> 8), (byte) length
        });
    frames.append(message.array(), 0, length);
  }
}
