package io.dynamo.inference.tensor;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request to a worker that takes tensors: model input {@code Tensor} on the worker's card.
 *
 * @param id the client's; null for none
 * @param outputs the tensors that are asked for; none asks for all
 * @param parameters booleans, longs, doubles, strings and unsigned {@link java.math.BigInteger}s
 */
public record TensorRequest(
    @Nullable String id,
    String model,
    List<Tensor> tensors,
    List<WantedOutput> outputs,
    Map<String, Object> parameters) {
  public TensorRequest {
    tensors = List.copyOf(tensors);
    outputs = List.copyOf(outputs);
    parameters = Map.copyOf(parameters);
  }
}
