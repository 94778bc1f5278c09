package io.dynamo.inference.tensor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** The elements of a tensor as bytes, in row-major order. Immutable. */
public sealed interface TensorData {
  TensorType type();

  /** The number of elements. */
  int count();

  /** A view of its own of the bytes. */
  ByteBuffer bytes();

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

    @Override
    public ByteBuffer bytes() {
      return bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }
  }

  /**
   * Elements of any length, of the type {@link TensorType#BYTES}. They are no objects, of which a
   * message could hold millions.
   *
   * @param bytes each element after its length in four bytes, the lowest first
   */
  record Strings(int count, ByteBuffer bytes) implements TensorData {
    public Strings {
      bytes = bytes.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public TensorType type() {
      return TensorType.BYTES;
    }

    @Override
    public ByteBuffer bytes() {
      return bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Calls {@code element} with each element in turn. */
    public void forEach(Consumer<ByteBuffer> element) {
      var rest = bytes();
      while (rest.hasRemaining()) {
        element.accept(next(rest));
      }
    }

    /** Takes the element that {@code rest} begins with off it. */
    static ByteBuffer next(ByteBuffer rest) {
      int length = rest.getInt();
      var element = rest.slice(rest.position(), length);
      rest.position(rest.position() + length);
      return element;
    }

    /** An element as text; bytes that are no UTF-8 become U+FFFD. */
    public String text(int index) {
      var rest = bytes();
      for (int i = 0; i < index; i++) {
        next(rest);
      }
      return StandardCharsets.UTF_8.decode(next(rest)).toString();
    }
  }
}
