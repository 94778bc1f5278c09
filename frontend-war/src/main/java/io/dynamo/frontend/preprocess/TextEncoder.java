package io.dynamo.frontend.preprocess;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Text to token ids by a {@code tokenizer.json}. Safe for concurrent use: calls run side by side,
 * {@link #close} waits for those under way.
 */
final class TextEncoder implements AutoCloseable {
  private static final long CLOSED = 0;

  private final TokenizersLibrary library = NativeTokenizers.library();
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private long tokenizer;

  /**
   * @param tokenizerJson the file's text
   * @throws IllegalArgumentException when it is no tokenizer
   */
  TextEncoder(String tokenizerJson) {
    try {
      tokenizer = library.createTokenizerFromString(tokenizerJson);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException("tokenizer.json is not usable: " + e.getMessage(), e);
    }
    library.disablePadding(tokenizer);
    library.disableTruncation(tokenizer);
  }

  /**
   * Ids of {@code text}; special tokens in it count, none is added.
   *
   * @param text {@link #wellFormed}
   */
  int[] encode(String text) {
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

  /** Without NUL, and with U+FFFD for each half of a surrogate pair that stands alone. */
  static String wellFormed(String text) {
    int i = 0;
    while (i < text.length() && !needsChange(text, i)) {
      i++;
    }
    if (i == text.length()) {
      return text;
    }
    var changed = new StringBuilder(text.length()).append(text, 0, i);
    for (; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c != 0) {
        changed.append(needsChange(text, i) ? '\uFFFD' : c);
      }
    }
    return changed.toString();
  }

  private static boolean needsChange(String text, int i) {
    char c = text.charAt(i);
    if (Character.isHighSurrogate(c)) {
      return i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1));
    }
    if (Character.isLowSurrogate(c)) {
      return i == 0 || !Character.isHighSurrogate(text.charAt(i - 1));
    }
    return c == 0;
  }
}
