package io.dynamo.worker.engine.llama;

/** RMSNorm and sums of floats in a fixed order: eight running sums, then those by halves. */
final class Norm {
  private Norm() {}

  /** RMSNorm: scales a row to a mean square of one, then by its weights. */
  static void apply(float[] x, int at, float[] weights, float epsilon, float[] y, int yAt) {
    int width = weights.length;
    float mean = squares(x, at, width) / width;
    float scale = (float) (1.0 / Math.sqrt(mean + epsilon));
    for (int i = 0; i < width; i++) {
      y[yAt + i] = x[at + i] * scale * weights[i];
    }
  }

  private static float squares(float[] x, int at, int count) {
    float a = 0f;
    float b = 0f;
    float c = 0f;
    float d = 0f;
    float e = 0f;
    float f = 0f;
    float g = 0f;
    float h = 0f;
    int i = at;
    int end = at + count;
    for (; i + 8 <= end; i += 8) {
      a = Math.fma(x[i], x[i], a);
      b = Math.fma(x[i + 1], x[i + 1], b);
      c = Math.fma(x[i + 2], x[i + 2], c);
      d = Math.fma(x[i + 3], x[i + 3], d);
      e = Math.fma(x[i + 4], x[i + 4], e);
      f = Math.fma(x[i + 5], x[i + 5], f);
      g = Math.fma(x[i + 6], x[i + 6], g);
      h = Math.fma(x[i + 7], x[i + 7], h);
    }
    for (; i < end; i++) {
      a = Math.fma(x[i], x[i], a);
    }
    return (a + b + (c + d)) + (e + f + (g + h));
  }

  /** Returns the sum of the first {@code count} values. */
  static float sum(float[] x, int count) {
    float a = 0f;
    float b = 0f;
    float c = 0f;
    float d = 0f;
    float e = 0f;
    float f = 0f;
    float g = 0f;
    float h = 0f;
    int i = 0;
    for (; i + 8 <= count; i += 8) {
      a += x[i];
      b += x[i + 1];
      c += x[i + 2];
      d += x[i + 3];
      e += x[i + 4];
      f += x[i + 5];
      g += x[i + 6];
      h += x[i + 7];
    }
    for (; i < count; i++) {
      a += x[i];
    }
    return (a + b + (c + d)) + (e + f + (g + h));
  }

  /** Whether no value is infinite or NaN. */
  static boolean isFinite(float[] x, int at, int count) {
    float zero = 0f;
    for (int i = at; i < at + count; i++) {
      zero += x[i] * 0f; // NaN and infinity times zero are NaN
    }
    return zero == 0f;
  }
}
