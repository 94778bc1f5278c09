package io.dynamo.frontend.kserve;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.dynamo.inference.tensor.TensorData;
import io.dynamo.inference.tensor.TensorType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Contents of a tensor as a protobuf message {@code InferTensorContents}, whose repeated fields
 * depend on the type.
 */
final class ProtoContents implements InferTensor.Contents {
  private static final int BOOL = 1;
  private static final int INT = 2;
  private static final int INT64 = 3;
  private static final int UINT = 4;
  private static final int UINT64 = 5;
  private static final int FP32 = 6;
  private static final int FP64 = 7;
  static final int BYTES = 8;

  private final ByteBuffer message;

  ProtoContents(ByteBuffer message) {
    this.message = message;
  }

  @Override
  public TensorData read(TensorType type, InferTensor tensor, int most) {
    if (type == TensorType.FP16 || type == TensorType.BF16) {
      throw InferRequest.refuse(
          ("FP16/BF16 tensors must be sent via `raw_input_contents`; `InferTensorContents` has no"
                  + " typed field for half-precision (input '%s')")
              .formatted(tensor.shownName()));
    }
    try {
      return type == TensorType.BYTES ? strings(tensor, most) : numbers(type, tensor, most);
    } catch (IOException e) {
      throw InferRequest.refuse(
          "the contents of '%s' are malformed: %s".formatted(tensor.shownName(), e.getMessage()));
    }
  }

  private CodedInputStream open() {
    // as an array: of a buffer, elements would be copies
    var in =
        CodedInputStream.newInstance(
            message.array(), message.arrayOffset() + message.position(), message.remaining());
    in.enableAliasing(true);
    return in;
  }

  @Override
  public long heapBytes(TensorType type, int most) {
    int length = message.remaining();
    return type == TensorType.BYTES
        ? 2L * length // an element takes two more bytes there than here, at least
        : (long) Math.min(most, length) * type.elementBytes();
  }

  private TensorData.Strings strings(InferTensor tensor, int most) throws IOException {
    long total = 0;
    int count = 0;
    for (var in = open(); nextString(in); ) {
      tensor.requireRoom(++count, most);
      int length = in.readRawVarint32();
      in.skipRawBytes(length);
      total += Integer.BYTES + length;
    }
    if (total > Integer.MAX_VALUE / 2) {
      throw new IOException(count + " elements are more than a message may hold");
    }
    var elements = ByteBuffer.allocate((int) total).order(ByteOrder.LITTLE_ENDIAN);
    for (var in = open(); nextString(in); ) {
      var element = in.readByteBuffer();
      elements.putInt(element.remaining()).put(element);
    }
    return new TensorData.Strings(count, elements.flip());
  }

  /** Moves to the next element; returns false at the end. */
  private static boolean nextString(CodedInputStream in) throws IOException {
    for (int tag; (tag = in.readTag()) != 0; ) {
      if (tag == (BYTES << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED)) {
        return true;
      }
      if (!in.skipField(tag)) {
        throw new IOException("a group ends that did not begin");
      }
    }
    return false;
  }

  private TensorData.Numbers numbers(TensorType type, InferTensor tensor, int most)
      throws IOException {
    var values = ByteBuffer.allocate(count(type, tensor, most) * type.elementBytes());
    values.order(ByteOrder.LITTLE_ENDIAN);
    forEach(type, in -> put(type, in, values));
    return new TensorData.Numbers(type, values.flip());
  }

  private int count(TensorType type, InferTensor tensor, int most) throws IOException {
    var count = new int[1];
    forEach(
        type,
        in -> {
          in.skipField(field(type) << 3 | wire(type));
          tensor.requireRoom(++count[0], most);
        });
    long bytes = (long) count[0] * type.elementBytes();
    if (bytes > Integer.MAX_VALUE / 2) {
      throw new IOException(count[0] + " elements are more than a message may hold");
    }
    return count[0];
  }

  private interface Element {
    void take(CodedInputStream in) throws IOException;
  }

  /** Calls {@code element} at each value of the type, packed or not. */
  private void forEach(TensorType type, Element element) throws IOException {
    var in = open();
    int single = field(type) << 3 | wire(type);
    int packed = field(type) << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED;
    for (int tag; (tag = in.readTag()) != 0; ) {
      if (tag == single) {
        element.take(in);
      } else if (tag == packed) {
        int outer = in.pushLimit(in.readRawVarint32());
        while (!in.isAtEnd()) {
          element.take(in);
        }
        in.popLimit(outer);
      } else if (!in.skipField(tag)) {
        throw new IOException("a group ends that did not begin");
      }
    }
  }

  static int field(TensorType type) {
    return switch (type) {
      case BOOL -> BOOL;
      case INT8, INT16, INT32 -> INT;
      case INT64 -> INT64;
      case UINT8, UINT16, UINT32 -> UINT;
      case UINT64 -> UINT64;
      case FP32 -> FP32;
      case FP64 -> FP64;
      case BYTES -> BYTES;
      case FP16, BF16 -> throw new IllegalArgumentException(type + " has no field");
    };
  }

  private static int wire(TensorType type) {
    return switch (type) {
      case FP32 -> WireFormat.WIRETYPE_FIXED32;
      case FP64 -> WireFormat.WIRETYPE_FIXED64;
      default -> WireFormat.WIRETYPE_VARINT;
    };
  }

  private static void put(TensorType type, CodedInputStream in, ByteBuffer into)
      throws IOException {
    switch (type) {
      case BOOL -> into.put((byte) (in.readBool() ? 1 : 0));
      case INT8 -> into.put((byte) within(in.readInt32(), Byte.MIN_VALUE, Byte.MAX_VALUE, type));
      case INT16 ->
          into.putShort((short) within(in.readInt32(), Short.MIN_VALUE, Short.MAX_VALUE, type));
      case INT32 -> into.putInt(in.readInt32());
      case INT64 -> into.putLong(in.readInt64());
      case UINT8 -> into.put((byte) within(in.readUInt32(), 0, 0xFF, type));
      case UINT16 -> into.putShort((short) within(in.readUInt32(), 0, 0xFFFF, type));
      case UINT32 -> into.putInt(in.readUInt32());
      case UINT64 -> into.putLong(in.readUInt64());
      case FP32 -> into.putFloat(in.readFloat());
      case FP64 -> into.putDouble(in.readDouble());
      case FP16, BF16, BYTES -> throw new IllegalArgumentException(type + " is no number here");
    }
  }

  /** Refuses a value that the type does not have; a narrower copy would be another number. */
  private static int within(int value, int low, int high, TensorType type) throws IOException {
    if (value < low || value > high) {
      throw new IOException(
          "%d is not between %d and %d, as %s is".formatted(value, low, high, type));
    }
    return value;
  }
}
