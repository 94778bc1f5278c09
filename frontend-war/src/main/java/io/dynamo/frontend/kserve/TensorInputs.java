package io.dynamo.frontend.kserve;

import io.dynamo.inference.tensor.Tensor;
import io.dynamo.inference.tensor.TensorRequest;
import io.dynamo.inference.tensor.TensorType;
import io.dynamo.inference.tensor.WantedOutput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Checks the inputs of requests to models of tensors, and reads their elements. */
public final class TensorInputs {
  /** Parameters that are about the form of the answer, and no worker's business. */
  private static final Set<String> OURS =
      Set.of(InferRequest.MARK_END, InferRequest.ALL_BINARY, InferRequest.ONE_BINARY);

  private TensorInputs() {}

  /**
   * Refuses inputs whose description is at fault. Their elements are not read.
   *
   * @throws io.dynamo.frontend.ApiException with 400
   */
  public static void check(InferRequest request) {
    var names = new HashSet<String>();
    for (var input : request.inputs()) {
      type(input);
      count(input);
      if (!names.add(input.name())) {
        throw InferRequest.refuse("'%s' is there twice; send one".formatted(input.shownName()));
      }
    }
  }

  /**
   * Refuses inputs that are not as the model describes them. Others pass, since workers may take
   * inputs that their cards do not list.
   *
   * @throws io.dynamo.frontend.ApiException with 400
   */
  public static void check(InferRequest request, ModelDescription model) {
    for (var input : request.inputs()) {
      for (var spec : model.inputs()) {
        if (spec.name().equals(input.name())) {
          checkInput(input, spec, model.batch());
        }
      }
    }
  }

  private static void checkInput(InferTensor input, TensorSpec spec, boolean batch) {
    if (type(input) != spec.type()) {
      throw InferRequest.refuse(
          "'%s' is of datatype %s, and the model takes %s"
              .formatted(input.shownName(), type(input), spec.type()));
    }
    if (!spec.takes(input.shape(), batch)) {
      throw InferRequest.refuse(
          "'%s' has the shape %s, and the model takes %s, where -1 is any number"
              .formatted(input.shownName(), input.shape(), spec.shape(batch)));
    }
  }

  private static TensorType type(InferTensor input) {
    var type = TensorType.named(input.datatype());
    if (type == null) {
      throw InferRequest.refuse(
          "'%s' has the datatype '%s'; there are %s"
              .formatted(
                  input.shownName(),
                  InferRequest.shown(input.datatype()),
                  Arrays.toString(TensorType.values())));
    }
    return type;
  }

  private static int count(InferTensor input) {
    for (long dimension : input.shape()) {
      if (dimension < 0) {
        throw InferRequest.refuse(
            "'%s' has the dimension %d in its shape; send the number of elements"
                .formatted(input.shownName(), dimension));
      }
    }
    var elements = Tensor.elements(input.shape());
    if (elements.isEmpty() || elements.getAsLong() > Integer.MAX_VALUE) {
      throw InferRequest.refuse(
          "'%s' has the shape %s, which implies more elements than a request may hold"
              .formatted(input.shownName(), input.shape()));
    }
    return (int) elements.getAsLong();
  }

  /** Returns the most bytes of heap that {@link #read} takes beside the request. */
  public static long heapBytes(InferRequest request) {
    long bytes = 0;
    for (var input : request.inputs()) {
      bytes += input.contents().heapBytes(type(input), count(input));
    }
    return bytes;
  }

  /**
   * Reads a request that was checked.
   *
   * @throws io.dynamo.frontend.ApiException with 400 when elements are not of their type, or not as
   *     many as their shape says
   */
  public static TensorRequest read(InferRequest request) {
    var tensors = new ArrayList<Tensor>(request.inputs().size());
    for (var input : request.inputs()) {
      int count = count(input);
      var data = input.read(type(input), count);
      if (data.count() != count) {
        throw InferRequest.refuse(
            "'%s': its shape implies %d elements but data has %d"
                .formatted(input.shownName(), count, data.count()));
      }
      tensors.add(new Tensor(input.name(), input.shape(), input.parameters(), data));
    }
    return new TensorRequest(
        request.id().isEmpty() ? null : request.id(),
        request.model(),
        tensors,
        request.outputs().stream()
            .map(output -> new WantedOutput(output.name(), forWorker(output.parameters())))
            .toList(),
        forWorker(request.parameters()));
  }

  private static Map<String, Object> forWorker(Map<String, Object> parameters) {
    var kept = new TreeMap<>(parameters);
    kept.keySet().removeAll(OURS);
    return kept;
  }

  /**
   * Returns about how many bytes a request takes on its way to a worker: values are written one by
   * one, with a byte or more before each.
   */
  public static long wireBytes(TensorRequest request) {
    long bytes = 0;
    for (var tensor : request.tensors()) {
      var data = tensor.data();
      long held = data.bytes().remaining();
      bytes += data.type() == TensorType.BYTES ? 2 * held : held + data.count();
    }
    return bytes;
  }
}
