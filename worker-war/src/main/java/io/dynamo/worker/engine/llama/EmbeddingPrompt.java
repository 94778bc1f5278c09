package io.dynamo.worker.engine.llama;

import io.dynamo.worker.engine.llama.LlamaForwardPass.Segment;

/** One prompt whose embedding is being computed. Used by the rank's thread only. */
final class EmbeddingPrompt {
  final EmbeddingBatch batch;
  final int[] blocks;
  private final int place;
  private final int[] tokens;
  private final Pooling pooling;
  private final double[] sum; // of the states so far; the last state alone where that counts
  private int computed;

  /**
   * @param place of the prompt in its batch
   * @param blocks for all of its tokens
   * @param width numbers of a state
   */
  EmbeddingPrompt(EmbeddingBatch batch, int place, int[] blocks, Pooling pooling, int width) {
    this.batch = batch;
    this.place = place;
    this.tokens = batch.tokens(place);
    this.blocks = blocks;
    this.pooling = pooling;
    this.sum = new double[width];
  }

  int pending() {
    return tokens.length - computed;
  }

  /** Returns the next {@code count} tokens, as part of a pass. */
  Segment segment(int count) {
    return new Segment(blocks, tokens, computed, count, count == pending());
  }

  /** Adds the state of a token. */
  void add(float[] states, int at) {
    for (int i = 0; i < sum.length; i++) {
      sum[i] += states[at + i];
    }
  }

  /** Records that {@code count} more tokens were computed; returns whether all are. */
  boolean advance(int count) {
    computed += count;
    return computed == tokens.length;
  }

  /** Returns the pooled states of all tokens. */
  float[] pooled() {
    double share =
        switch (pooling) {
          case LAST -> 1;
          case MEAN -> 1.0 / tokens.length;
        };
    var vector = new float[sum.length];
    for (int i = 0; i < vector.length; i++) {
      vector[i] = (float) (sum[i] * share);
    }
    return vector;
  }

  int place() {
    return place;
  }
}
