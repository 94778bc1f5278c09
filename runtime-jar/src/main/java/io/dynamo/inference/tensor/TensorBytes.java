package io.dynamo.inference.tensor;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Gathers the elements of a tensor whose number is not known before. For one thread. */
public final class TensorBytes {
  private final TensorType type;
  private byte[] bytes = new byte[64];
  private int size;
  private int count;

  public TensorBytes(TensorType type) {
    this.type = type;
  }

  /**
   * Adds a number, by its lower bits.
   *
   * @throws ArithmeticException when there is no room for it in an array
   */
  public void add(long bits) {
    int width = type.elementBytes();
    reserve(width);
    for (int i = 0; i < width; i++) {
      bytes[size++] = (byte) (bits >>> (Byte.SIZE * i));
    }
    count++;
  }

  /**
   * Adds an element of {@link TensorType#BYTES}.
   *
   * @throws ArithmeticException when there is no room for it in an array
   */
  public void add(byte[] element) {
    reserve(Math.addExact(Integer.BYTES, element.length));
    for (int i = 0; i < Integer.BYTES; i++) {
      bytes[size++] = (byte) (element.length >>> (Byte.SIZE * i));
    }
    System.arraycopy(element, 0, bytes, size, element.length);
    size += element.length;
    count++;
  }

  private void reserve(int more) {
    int needed = Math.addExact(size, more);
    if (needed > bytes.length) {
      long doubled = Math.min(Integer.MAX_VALUE - 8L, 2L * bytes.length);
      bytes = Arrays.copyOf(bytes, (int) Math.max(needed, doubled));
    }
  }

  /** The elements; none may be added afterwards. */
  public TensorData data() {
    var all = ByteBuffer.wrap(bytes, 0, size);
    return type == TensorType.BYTES
        ? new TensorData.Strings(count, all)
        : new TensorData.Numbers(type, all);
  }
}
