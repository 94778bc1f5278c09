package io.dynamo.worker.engine.llama;

import io.dynamo.worker.engine.llama.weights.LlamaWeights;

/** Weights that generations compute with: the model's, or those with an adapter. */
final class AdaptedModel {
  final LlamaWeights weights;
  private volatile boolean gone;

  AdaptedModel(LlamaWeights weights) {
    this.weights = weights;
  }

  /** The adapter is unloaded: nothing is computed with it from the next pass on. */
  void retire() {
    gone = true;
  }

  boolean isGone() {
    return gone;
  }
}
