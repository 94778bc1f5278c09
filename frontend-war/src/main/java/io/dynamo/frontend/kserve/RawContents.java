package io.dynamo.frontend.kserve;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

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
      return new TensorData.Strings(strings(tensor, most));
    }
    if (bytes.remaining() % type.elementBytes() != 0) {
      throw InferRequest.refuse(
          "Raw input length must be a multiple of %d, and that of '%s' is %d"
              .formatted(type.elementBytes(), tensor.name(), bytes.remaining()));
    }
    tensor.requireRoom(bytes.remaining() / type.elementBytes(), most);
    return new TensorData.Numbers(type, bytes);
  }

  private List<ByteBuffer> strings(InferTensor tensor, int most) {
    var rest = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    var elements = new ArrayList<ByteBuffer>();
    while (rest.hasRemaining()) {
      if (rest.remaining() < LENGTH_BYTES) {
        throw InferRequest.refuse(
            "'%s' raw input must be length-prefixed (>= 4 bytes)".formatted(tensor.name()));
      }
      int length = rest.getInt();
      if (length < 0 || length > rest.remaining()) {
        throw InferRequest.refuse(
            "Invalid length-prefixed BYTES input for '%s', length exceeds raw input size: %d of %d"
                .formatted(tensor.name(), Integer.toUnsignedLong(length), rest.remaining()));
      }
      tensor.requireRoom(elements.size() + 1, most);
      elements.add(rest.slice(rest.position(), length));
      rest.position(rest.position() + length);
    }
    return elements;
  }
}
