package io.dynamo.worker.engine.llama.math;

/**
 * The exponential function in single precision, in steps that vector code can also take: the
 * argument is split into a multiple of ln 2 and a rest, the rest goes through a polynomial (the
 * well-known coefficients of Cephes' {@code expf}, as floats), and the multiple becomes the
 * exponent. Within 2 units in the last place; arguments beyond the range of normal numbers are
 * clamped to its ends; NaN stays NaN.
 */
final class Exponential {
  static final float LOWEST = -87.3f;
  static final float HIGHEST = 88.3f;
  static final float LOG2_E = 1.442695f;
  static final float LN2_HIGH = 0.6933594f;
  static final float LN2_LOW = -2.1219444e-4f;

  /**
   * The constant that, added to a small number, leaves the nearest whole number in the lowest bits.
   */
  static final float ROUNDER = 12582912f; // 1.5 * 2^23

  static final int EXPONENT_SHIFT = 23;
  static final int EXPONENT_BIAS = 127 << EXPONENT_SHIFT;
  static final float C6 = 1.9875691e-4f;
  static final float C5 = 1.3981999e-3f;
  static final float C4 = 8.333452e-3f;
  static final float C3 = 4.1665796e-2f;
  static final float C2 = 0.16666666f;
  static final float C1 = 0.5f;

  private Exponential() {}

  static float of(float value) {
    float x = Math.min(Math.max(value, LOWEST), HIGHEST);
    float rounded = Math.fma(x, LOG2_E, ROUNDER);
    float whole = rounded - ROUNDER;
    float rest = Math.fma(whole, -LN2_LOW, Math.fma(whole, -LN2_HIGH, x));
    float p = Math.fma(C6, rest, C5);
    p = Math.fma(p, rest, C4);
    p = Math.fma(p, rest, C3);
    p = Math.fma(p, rest, C2);
    p = Math.fma(p, rest, C1);
    float power = Math.fma(p, rest * rest, rest) + 1f;
    int bits = (Float.floatToRawIntBits(rounded) << EXPONENT_SHIFT) + EXPONENT_BIAS;
    return power * Float.intBitsToFloat(bits);
  }
}
