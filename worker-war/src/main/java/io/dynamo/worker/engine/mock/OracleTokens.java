package io.dynamo.worker.engine.mock;

/**
 * Says which token follows: a pure function of the seed and of every token before. A token lost,
 * repeated or swapped anywhere changes all that follow, so a seam in a stream shows. Immutable.
 *
 * <p>The state is a chain of bijections of 64 bits, one per token, so that no step forgets what
 * came before it.
 */
public final class OracleTokens {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final int[] vocabulary;

  /**
   * @param vocabulary the ids that may follow, at least two
   */
  public OracleTokens(int[] vocabulary) {
    if (vocabulary.length < 2) {
      throw new IllegalArgumentException(
          "a vocabulary of " + vocabulary.length + " ids tells no token from another");
    }
    this.vocabulary = vocabulary.clone();
  }

  /** The state before the first token. */
  public static long start(long seed) {
    return mix(seed + GOLDEN);
  }

  /** The state after one more token. */
  public static long after(long state, int token) {
    return mix(state + GOLDEN * (2L * token + 1));
  }

  /** The token that follows in {@code state}. */
  public int next(long state) {
    return vocabulary[(int) Long.remainderUnsigned(mix(state), vocabulary.length)];
  }

  /** The {@code count} tokens that follow {@code prompt}. */
  public int[] continuation(long seed, int[] prompt, int count) {
    long state = start(seed);
    for (int token : prompt) {
      state = after(state, token);
    }
    var tokens = new int[count];
    for (int i = 0; i < count; i++) {
      tokens[i] = next(state);
      state = after(state, tokens[i]);
    }
    return tokens;
  }

  /** The finaliser of SplitMix64: a bijection in which each bit depends on each. */
  static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
