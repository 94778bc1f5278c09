package io.dynamo.worker.engine.llama.sample;

/**
 * Random numbers by position: the same seed and position give the same number, independent of
 * earlier draws. So a text that continues elsewhere, or is computed again, draws the same numbers.
 */
final class PositionalRandom {
  private static final long STEP = 0x9E3779B97F4A7C15L; // 2^64 over the golden ratio, odd

  private PositionalRandom() {}

  /** Returns a number from 0 to below 1. */
  static double at(long seed, int position) {
    long bits = mix(mix(seed) + (position + 1L) * STEP);
    return (bits >>> 11) * 0x1.0p-53;
  }

  /** Applies SplitMix64's finishing steps (Stafford's variant 13). */
  private static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
