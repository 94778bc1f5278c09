package io.dynamo.frontend.preprocess;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import java.util.Map;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * Encodes text by the tokenizer library, for any {@code tokenizer.json}. Calls run in parallel,
 * {@link #close} waits for those under way.
 */
final class LibraryEncoder implements TextEncoder {
  private static final long CLOSED = 0;
  private static final int DROPPED_CHARS = 1024; // that one token may stand for

  private final TokenizersLibrary library = NativeTokenizers.library();
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private final @Nullable LibraryEncoder ordinary; // the same tokenizer without added tokens
  private long tokenizer;

  /**
   * Encodes texts with added tokens alone.
   *
   * @param tokenizerJson the file's text
   * @throws IllegalArgumentException when it is no tokenizer
   */
  LibraryEncoder(String tokenizerJson) {
    this(tokenizerJson, null);
  }

  private LibraryEncoder(String tokenizerJson, @Nullable LibraryEncoder ordinary) {
    this.ordinary = ordinary;
    try {
      tokenizer = library.createTokenizerFromString(tokenizerJson);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException("tokenizer.json is not usable: " + e.getMessage(), e);
    }
    library.disablePadding(tokenizer);
    library.disableTruncation(tokenizer);
  }

  /**
   * Encodes ordinary text, too, at the memory of a second tokenizer: the library takes added tokens
   * out of every text.
   *
   * @param tokenizerJson the file's text
   * @param parsed the same
   * @throws IllegalArgumentException when it is no tokenizer, or cannot do without added tokens
   */
  static LibraryEncoder withOrdinary(String tokenizerJson, Map<?, ?> parsed) {
    var ordinary = new LibraryEncoder(OrdinaryTokenizer.json(parsed));
    try {
      return new LibraryEncoder(tokenizerJson, ordinary);
    } catch (IllegalArgumentException e) {
      ordinary.close();
      throw e;
    }
  }

  @Override
  public int[] encode(String text, int maxTokens) {
    lock.readLock().lock();
    try {
      if (tokenizer == CLOSED) {
        throw new IllegalStateException("the tokenizer is closed");
      }
      long encoding = library.encode(tokenizer, text, false);
      try {
        return narrow(library.getTokenIds(encoding));
      } finally {
        library.deleteEncoding(encoding);
      }
    } finally {
      lock.readLock().unlock();
    }
  }

  @Override
  public int[] encodeOrdinary(String text, int maxTokens) {
    if (ordinary == null) {
      throw new IllegalStateException("the tokenizer was opened for texts with added tokens alone");
    }
    return ordinary.encode(text, maxTokens);
  }

  /**
   * A generous estimate: a normalizer may drop characters, and a whole word that is not in the
   * vocabulary may become one token.
   */
  @Override
  public int maxTokenChars(int longestToken) {
    return Math.max(longestToken, DROPPED_CHARS);
  }

  /** Text of {@code ids} by the library itself: the oracle of the detokenizer's tests. */
  String decode(long[] ids, boolean skipSpecialTokens) {
    lock.readLock().lock();
    try {
      return library.decode(tokenizer, ids, skipSpecialTokens);
    } finally {
      lock.readLock().unlock();
    }
  }

  @Override
  public void close() {
    if (ordinary != null) {
      ordinary.close();
    }
    lock.writeLock().lock();
    try {
      if (tokenizer != CLOSED) {
        library.deleteTokenizer(tokenizer);
        tokenizer = CLOSED;
      }
    } finally {
      lock.writeLock().unlock();
    }
  }

  private static int[] narrow(long[] ids) {
    var narrow = new int[ids.length];
    for (int i = 0; i < ids.length; i++) {
      narrow[i] = Math.toIntExact(ids[i]);
    }
    return narrow;
  }
}
