package io.dynamo.frontend.kserve;

import java.util.List;

/**
 * A tensor that a model takes or gives.
 *
 * @param shape -1 for a dimension of any size
 */
public record TensorSpec(String name, TensorType type, List<Long> shape, boolean optional) {
  public TensorSpec {
    shape = List.copyOf(shape);
  }
}
