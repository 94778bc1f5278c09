package io.dynamo.frontend.preprocess;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Encodes text by the tokenizer library, for any {@code tokenizer.json}. Calls run in parallel,
 * {@link #close} waits for those under way.
 */
final class LibraryEncoder implements TextEncoder {
  private static final long CLOSED = 0;
  private static final int DROPPED_CHARS = 1024; // that one token may stand for

  private final TokenizersLibrary library = NativeTokenizers.library();
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private long tokenizer;

  /**
   * @param tokenizerJson the file's text
   * @throws IllegalArgumentException when it is no tokenizer
   */
  LibraryEncoder(String tokenizerJson) {
    try {
      tokenizer = library.createTokenizerFromString(tokenizerJson);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException("tokenizer.json is not usable: " + e.getMessage(), e);
    }
    library.disablePadding(tokenizer);
    library.disableTruncation(tokenizer);
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
