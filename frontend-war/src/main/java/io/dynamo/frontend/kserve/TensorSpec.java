package io.dynamo.frontend.kserve;

import io.dynamo.inference.tensor.TensorType;
import java.util.ArrayList;
import java.util.List;

/**
 * A tensor that a model takes or gives.
 *
 * @param shape -1 for a dimension of any size
 */
public record TensorSpec(String name, TensorType type, List<Long> shape, boolean optional) {
  private static final long ANY = -1;

  public TensorSpec {
    shape = List.copyOf(shape);
  }

  /**
   * The shape of requests' tensors.
   *
   * @param batch whether a dimension for requests stands before the others
   */
  public List<Long> shape(boolean batch) {
    if (!batch) {
      return shape;
    }
    var whole = new ArrayList<Long>();
    whole.add(ANY);
    whole.addAll(shape);
    return whole;
  }

  /** Whether a tensor of the shape {@code given} is one of these. */
  boolean takes(List<Long> given, boolean batch) {
    var wanted = shape(batch);
    if (wanted.size() != given.size()) {
      return false;
    }
    for (int i = 0; i < wanted.size(); i++) {
      if (wanted.get(i) != ANY && !wanted.get(i).equals(given.get(i))) {
        return false;
      }
    }
    return true;
  }
}
