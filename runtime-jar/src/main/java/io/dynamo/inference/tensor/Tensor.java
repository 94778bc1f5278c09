package io.dynamo.inference.tensor;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * A named tensor.
 *
 * @param shape its dimensions, the outermost first; none for a single element
 * @param parameters booleans, longs, doubles, strings and unsigned {@link java.math.BigInteger}s
 */
public record Tensor(
    String name, List<Long> shape, Map<String, Object> parameters, TensorData data) {
  public Tensor {
    shape = List.copyOf(shape);
    parameters = Map.copyOf(parameters);
  }

  /**
   * Returns the number of elements of a shape; empty when a dimension is negative, or the number
   * takes more than 63 bits.
   */
  public static OptionalLong elements(List<Long> shape) {
    long elements = 1;
    boolean none = false;
    for (long dimension : shape) {
      if (dimension < 0) {
        return OptionalLong.empty();
      }
      none |= dimension == 0;
    }
    if (none) {
      return OptionalLong.of(0);
    }
    for (long dimension : shape) {
      if (elements > Long.MAX_VALUE / dimension) {
        return OptionalLong.empty();
      }
      elements *= dimension;
    }
    return OptionalLong.of(elements);
  }
}
