package io.dynamo.worker.engine.mock;

import java.util.BitSet;

/**
 * Determines the next token: a pure function of the seed and of every token before. After a word
 * comes the separator, if there is one, and after anything else a word. A token lost, repeated or
 * swapped anywhere changes the words that follow, so a seam in a stream shows. Immutable.
 *
 * <p>The state is a chain of bijections of 64 bits, one per token, so that no step forgets earlier
 * tokens.
 */
public final class OracleTokens {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private static final int NONE = -1; // no token has this id

  private final int[] words;
  private final BitSet separated; // the words that a separator follows
  private final int separator;

  /** Creates an oracle of words without a separator. */
  public OracleTokens(int[] words) {
    this(words, NONE, new BitSet());
  }

  /**
   * @param words the ids to choose from, at least two
   * @param separator the id between two of them, none of them itself
   */
  public OracleTokens(int[] words, int separator) {
    this(words, separator, setOf(words));
    if (separator < 0 || separated.get(separator)) {
      throw new IllegalArgumentException("the separator " + separator + " is negative or a word");
    }
  }

  private OracleTokens(int[] words, int separator, BitSet separated) {
    if (words.length < 2) {
      throw new IllegalArgumentException(
          "a vocabulary of " + words.length + " words tells no token from another");
    }
    this.words = words.clone();
    this.separator = separator;
    this.separated = separated;
  }

  private static BitSet setOf(int[] ids) {
    var set = new BitSet();
    for (int id : ids) {
      set.set(id);
    }
    return set;
  }

  /** Returns the state before the first token. */
  public static long start(long seed) {
    return mix(seed + GOLDEN);
  }

  /** Returns the state after one more token. */
  public static long after(long state, int token) {
    return mix(state + GOLDEN * (2L * token + 1));
  }

  /**
   * Returns the token that follows.
   *
   * @param state the state after all tokens so far
   * @param last the last token
   */
  public int next(long state, int last) {
    return last >= 0 && separated.get(last)
        ? separator
        : words[(int) Long.remainderUnsigned(mix(state), words.length)];
  }

  /**
   * Returns a word that might have followed instead, a different one for each {@code step} below
   * {@link #words}; 0 is the word that does follow.
   */
  int word(long state, int step) {
    return words[(int) ((Long.remainderUnsigned(mix(state), words.length) + step) % words.length)];
  }

  /** Returns the number of words to choose from. */
  int words() {
    return words.length;
  }

  /** Returns the {@code count} tokens that follow {@code prompt}. */
  public int[] continuation(long seed, int[] prompt, int count) {
    long state = start(seed);
    for (int token : prompt) {
      state = after(state, token);
    }
    int last = prompt.length == 0 ? NONE : prompt[prompt.length - 1];
    var tokens = new int[count];
    for (int i = 0; i < count; i++) {
      last = next(state, last);
      tokens[i] = last;
      state = after(state, last);
    }
    return tokens;
  }

  /** Applies the finaliser of SplitMix64: a bijection in which each bit depends on each. */
  static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
