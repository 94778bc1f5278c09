package io.dynamo.worker.engine.llama;

import io.dynamo.worker.engine.llama.weights.LlamaShape;

/**
 * RoPE: rotates pairs of a head's dimensions by an angle that grows with the position. Immutable.
 */
final class Rotation {
  private final int half;
  private final float[] cos; // [position][half]
  private final float[] sin;

  Rotation(LlamaShape shape) {
    this(shape, shape.contextLength());
  }

  /**
   * @param positions the most of any sequence
   */
  Rotation(LlamaShape shape, int positions) {
    this.half = shape.headDim() / 2;
    int size = Math.multiplyExact(positions, half);
    this.cos = new float[size];
    this.sin = new float[size];
    for (int i = 0; i < half; i++) {
      float frequency = (float) (1.0 / StrictMath.pow(shape.ropeTheta(), (double) i / half));
      for (int position = 0; position < positions; position++) {
        float angle = position * frequency;
        cos[position * half + i] = (float) StrictMath.cos(angle);
        sin[position * half + i] = (float) StrictMath.sin(angle);
      }
    }
  }

  /** Rotates the head at {@code at}; dimension i is paired with dimension i + half. */
  void turn(float[] heads, int at, int position) {
    int angle = position * half;
    for (int i = 0; i < half; i++) {
      float a = heads[at + i];
      float b = heads[at + half + i];
      heads[at + i] = a * cos[angle + i] - b * sin[angle + i];
      heads[at + half + i] = b * cos[angle + i] + a * sin[angle + i];
    }
  }
}
