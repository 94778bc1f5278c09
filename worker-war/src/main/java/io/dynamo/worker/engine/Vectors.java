package io.dynamo.worker.engine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Cuts vectors and scales them to length 1. */
public final class Vectors {
  private Vectors() {}

  /**
   * Returns the vector that the requester gets.
   *
   * @param dimensions the numbers to keep, from the first; null keeps all
   * @param unit whether its length is to be 1; a vector of zeros stays one
   */
  public static float[] finished(float[] vector, @Nullable Integer dimensions, boolean unit) {
    var kept =
        dimensions == null || dimensions >= vector.length
            ? vector.clone()
            : Arrays.copyOf(vector, dimensions);
    if (unit) {
      scale(kept);
    }
    return kept;
  }

  private static void scale(float[] vector) {
    double squares = 0;
    for (float number : vector) {
      squares += (double) number * number;
    }
    if (squares > 0) {
      double by = 1 / Math.sqrt(squares);
      for (int i = 0; i < vector.length; i++) {
        vector[i] = (float) (vector[i] * by);
      }
    }
  }
}
