package io.dynamo.frontend.kserve;

import io.dynamo.inference.tensor.TensorData;
import io.dynamo.inference.tensor.TensorType;
import java.util.List;
import java.util.Map;

/**
 * An input of a request.
 *
 * @param datatype as the client wrote it
 * @param shape as the client wrote it
 */
public record InferTensor(
    String name,
    String datatype,
    List<Long> shape,
    Map<String, Object> parameters,
    Contents contents) {
  /** Where the elements of a tensor are, not yet read. */
  public interface Contents {
    /**
     * Reads the elements.
     *
     * @param tensor whose contents these are, for messages
     * @param most elements; none is made of more
     * @throws io.dynamo.frontend.ApiException with 400 when they are not of that type, or more
     */
    TensorData read(TensorType type, InferTensor tensor, int most);

    /**
     * Returns the most bytes of heap that {@link #read} takes; 0 where the elements stay in the
     * message.
     */
    long heapBytes(TensorType type, int most);
  }

  public InferTensor {
    shape = List.copyOf(shape);
    parameters = Map.copyOf(parameters);
  }

  /**
   * Reads the elements.
   *
   * @param most that are allowed
   * @throws io.dynamo.frontend.ApiException with 400 when they are not of that type, or more
   */
  public TensorData read(TensorType type, int most) {
    return contents.read(type, this, most);
  }

  /** Refuses a tensor that has more than {@code most} elements. */
  public void requireRoom(int count, int most) {
    if (count > most) {
      throw InferRequest.refuse(
          most == 1
              ? "'%s' must contain exactly one element, and has more".formatted(shownName())
              : "'%s' has more than %d elements; send fewer".formatted(shownName(), most));
    }
  }

  /** The name, as a message may repeat it. */
  public String shownName() {
    return InferRequest.shown(name);
  }
}
