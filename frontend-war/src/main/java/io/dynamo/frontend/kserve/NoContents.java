package io.dynamo.frontend.kserve;

import io.dynamo.inference.tensor.TensorData;
import io.dynamo.inference.tensor.TensorType;

/** The contents of a tensor that came without any. */
enum NoContents implements InferTensor.Contents {
  INSTANCE;

  @Override
  public TensorData read(TensorType type, InferTensor tensor, int most) {
    throw InferRequest.refuse(
        "Missing raw input for '%s': it has no contents either".formatted(tensor.shownName()));
  }

  @Override
  public long heapBytes(TensorType type, int most) {
    return 0;
  }
}
