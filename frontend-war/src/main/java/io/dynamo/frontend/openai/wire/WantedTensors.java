package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.kserve.InferRequest;
import io.dynamo.inference.tensor.Tensor;
import io.dynamo.inference.tensor.WantedOutput;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The outputs of a model that a client wants.
 *
 * @param names none for all
 * @param binary those whose contents are sent as bytes behind the JSON
 * @param allBinary whether that is so for all but {@code text}
 * @param text those whose contents are sent as JSON
 */
record WantedTensors(Set<String> names, Set<String> binary, boolean allBinary, Set<String> text) {
  WantedTensors {
    names = Set.copyOf(names);
    binary = Set.copyOf(binary);
    text = Set.copyOf(text);
  }

  static WantedTensors of(InferRequest request) {
    var names = new HashSet<String>();
    var binary = new HashSet<String>();
    var text = new HashSet<String>();
    for (WantedOutput output : request.outputs()) {
      names.add(output.name());
      if (output.parameters().get(InferRequest.ONE_BINARY) instanceof Boolean flag) {
        (flag ? binary : text).add(output.name());
      }
    }
    return new WantedTensors(
        names,
        binary,
        Boolean.TRUE.equals(request.parameters().get(InferRequest.ALL_BINARY)),
        text);
  }

  /** Those of a worker's tensors that are wanted. */
  List<Tensor> of(List<Tensor> given) {
    return names.isEmpty()
        ? given
        : given.stream().filter(tensor -> names.contains(tensor.name())).toList();
  }

  /** Whether the contents of an output are sent as bytes. */
  boolean isBinary(String name) {
    return binary.contains(name) || (allBinary && !text.contains(name));
  }
}
