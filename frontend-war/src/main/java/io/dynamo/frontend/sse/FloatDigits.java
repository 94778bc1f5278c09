package io.dynamo.frontend.sse;

/**
 * Finds the fewest decimal digits, but seven at least, that name a float, for the range of most
 * vectors' numbers, faster than {@link Float#toString(float)} does for every one. For one thread;
 * the result of the last call is in its fields.
 *
 * <p>Seven to nine digits are tried: the value times a power of ten, rounded in double precision,
 * must come back as the same float. Where double precision cannot tell, the caller asks {@code
 * Float.toString}.
 */
final class FloatDigits {
  private static final float LEAST = 1e-5f;
  private static final float BOUND = 1e7f;
  private static final int LEAST_EXPONENT = -5; // decimal, of LEAST
  private static final int BOUND_EXPONENT = 7;
  private static final int FEWEST = 7;
  private static final int MOST = 9; // name every float

  /** The bits of a double below those of a float, and their value midway between two floats. */
  private static final long BELOW_FLOAT = (1L << 29) - 1;

  private static final long MIDWAY = 1L << 28;
  private static final double[] POWERS = new double[16]; // of ten, exact

  /** The least value of each decimal exponent, from {@link #LEAST_EXPONENT} on. */
  private static final double[] LIMITS = new double[BOUND_EXPONENT - LEAST_EXPONENT + 1];

  static {
    POWERS[0] = 1;
    for (int i = 1; i < POWERS.length; i++) {
      POWERS[i] = POWERS[i - 1] * 10;
    }
    for (int i = 0; i < LIMITS.length; i++) {
      int exponent = LEAST_EXPONENT + i;
      LIMITS[i] = exponent < 0 ? 1 / POWERS[-exponent] : POWERS[exponent];
    }
    LIMITS[0] = LEAST; // as a float, which is below the power
  }

  private int digits;
  private int scale;
  private int length;

  /**
   * Works on a value that is not negative.
   *
   * @return whether {@link #digits} and {@link #scale} hold it
   */
  boolean find(float value) {
    if (!(value >= LEAST && value < BOUND)) {
      return false;
    }
    int exponent = exponent(value);
    for (int count = FEWEST; count <= MOST; count++) {
      scale = count - 1 - exponent;
      double power = POWERS[scale];
      digits = (int) (value * power + 0.5);
      double back = digits / power;
      if ((Double.doubleToRawLongBits(back) & BELOW_FLOAT) == MIDWAY) {
        return false;
      }
      if ((float) back == value) {
        if (scale == 0) { // the text has a digit behind the point
          digits *= 10;
          scale = 1;
        }
        while (scale > 1 && digits % 10 == 0) {
          digits /= 10;
          scale--;
        }
        length = scale + 1 + Math.max(1, exponent + 1);
        return true;
      }
    }
    return false;
  }

  /** Returns the decimal exponent of a value in the range. */
  private static int exponent(float value) {
    int exponent = -1; // most numbers of vectors are near it
    while (value < LIMITS[exponent - LEAST_EXPONENT]) {
      exponent--;
    }
    while (value >= LIMITS[exponent + 1 - LEAST_EXPONENT]) {
      exponent++;
    }
    return exponent;
  }

  /** Returns all digits as a whole number. */
  int digits() {
    return digits;
  }

  /** Returns how many of the digits are behind the point. */
  int scale() {
    return scale;
  }

  /** Returns the length of the text, with the point and a digit before it. */
  int length() {
    return length;
  }
}
