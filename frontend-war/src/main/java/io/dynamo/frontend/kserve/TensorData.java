package io.dynamo.frontend.kserve;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The elements of a tensor, in row-major order. Immutable. */
public sealed interface TensorData {
  /** The number of elements. */
  int count();

  /**
   * Elements of a fixed size.
   *
   * @param bytes little-endian, without gaps
   */
  record Numbers(TensorType type, ByteBuffer bytes) implements TensorData {
    public Numbers {
      bytes = bytes.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public int count() {
      return bytes.remaining() / type.elementBytes();
    }

    /** A view of its own of the bytes. */
    @Override
    public ByteBuffer bytes() {
      return bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }
  }

  /** Elements of any length, of the type {@link TensorType#BYTES}. */
  record Strings(List<ByteBuffer> elements) implements TensorData {
    public Strings {
      elements = List.copyOf(elements);
    }

    @Override
    public int count() {
      return elements.size();
    }

    /** An element as text; bytes that are no UTF-8 become U+FFFD. */
    public String text(int index) {
      return StandardCharsets.UTF_8.decode(elements.get(index).duplicate()).toString();
    }
  }
}
