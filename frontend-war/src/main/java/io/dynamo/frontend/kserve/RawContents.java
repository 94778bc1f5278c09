package io.dynamo.frontend.kserve;

import io.dynamo.inference.tensor.TensorData;
import io.dynamo.inference.tensor.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Contents of a tensor as bytes: little-endian elements without gaps, and each element of {@link
 * TensorType#BYTES} after its length in four bytes.
 */
public final class RawContents implements InferTensor.Contents {
  private static final int LENGTH_BYTES = 4;

  private final ByteBuffer bytes;

  /**
   * @param bytes not changed from now on
   */
  public RawContents(ByteBuffer bytes) {
    this.bytes = bytes;
  }

  @Override
  public TensorData read(TensorType type, InferTensor tensor, int most) {
    if (type == TensorType.BYTES) {
      return new TensorData.Strings(strings(tensor, most), bytes);
    }
    if (bytes.remaining() % type.elementBytes() != 0) {
      throw InferRequest.refuse(
          "Raw input length must be a multiple of %d, and that of '%s' is %d"
              .formatted(type.elementBytes(), tensor.shownName(), bytes.remaining()));
    }
    tensor.requireRoom(bytes.remaining() / type.elementBytes(), most);
    return new TensorData.Numbers(type, bytes);
  }

  @Override
  public long heapBytes(TensorType type, int most) {
    return 0;
  }

  /** Checks the lengths; returns the number of elements. */
  private int strings(InferTensor tensor, int most) {
    var rest = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    int count = 0;
    while (rest.hasRemaining()) {
      if (rest.remaining() < LENGTH_BYTES) {
        throw InferRequest.refuse(
            "'%s' raw input must be length-prefixed (>= 4 bytes)".formatted(tensor.shownName()));
      }
      int length = rest.getInt();
      if (length < 0 || length > rest.remaining()) {
        throw InferRequest.refuse(
            "Invalid length-prefixed BYTES input for '%s', length exceeds raw input size: %d of %d"
                .formatted(tensor.shownName(), Integer.toUnsignedLong(length), rest.remaining()));
      }
      tensor.requireRoom(++count, most);
      rest.position(rest.position() + length);
    }
    return count;
  }
}
