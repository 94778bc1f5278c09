package io.dynamo.frontend.kserve;

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
  @FunctionalInterface
  public interface Contents {
    /**
     * Reads the elements.
     *
     * @param tensor whose contents these are, for messages
     * @throws io.dynamo.frontend.ApiException with 400 when they are not of that type
     */
    TensorData read(TensorType type, InferTensor tensor);
  }

  public InferTensor {
    shape = List.copyOf(shape);
    parameters = Map.copyOf(parameters);
  }

  /**
   * Reads the elements.
   *
   * @throws io.dynamo.frontend.ApiException with 400 when they are not of that type
   */
  public TensorData read(TensorType type) {
    return contents.read(type, this);
  }
}
