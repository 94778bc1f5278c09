package io.dynamo.inference.tensor;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One item of a worker's answer to a {@link TensorRequest}.
 *
 * @param id of the request, as the worker repeats it
 * @param parameters booleans, longs, doubles, strings and unsigned {@link java.math.BigInteger}s
 */
public record TensorResponse(
    @Nullable String id, String model, List<Tensor> tensors, Map<String, Object> parameters) {
  public TensorResponse {
    tensors = List.copyOf(tensors);
    parameters = Map.copyOf(parameters);
  }
}
