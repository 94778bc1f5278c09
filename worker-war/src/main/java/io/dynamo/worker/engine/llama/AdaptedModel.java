package io.dynamo.worker.engine.llama;

import io.dynamo.worker.engine.llama.weights.LlamaWeights;

/** The weights that a generation computes with: the model's, or the model's with an adapter. */
final class AdaptedModel {
  final LlamaWeights weights;
  private volatile boolean gone;

  AdaptedModel(LlamaWeights weights) {
    this.weights = weights;
  }

  /** Marks the adapter as unloaded: no pass computes with it from the next one on. */
  void retire() {
    gone = true;
  }

  boolean isGone() {
    return gone;
  }
}
