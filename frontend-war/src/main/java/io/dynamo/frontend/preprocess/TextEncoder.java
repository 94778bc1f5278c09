package io.dynamo.frontend.preprocess;

import io.dynamo.frontend.preprocess.bpe.TooManyTokensException;

/** Encodes text to token ids by a {@code tokenizer.json}. Safe for concurrent use. */
interface TextEncoder extends AutoCloseable {
  /**
   * Ids of {@code text}; special tokens in it count, none is added.
   *
   * @param text {@linkplain WellFormed well formed}
   * @param maxTokens where to stop, if the encoder can
   * @throws TooManyTokensException when there are more
   */
  int[] encode(String text, int maxTokens);

  /**
   * Ids of {@code text} as ordinary text: what looks like an added token in it is none.
   *
   * @param text {@linkplain WellFormed well formed}
   * @param maxTokens where to stop, if the encoder can
   * @throws TooManyTokensException when there are more
   */
  int[] encodeOrdinary(String text, int maxTokens);

  /**
   * The most characters (UTF-16) of a text that one token can stand for.
   *
   * @param longestToken of the vocabulary, in bytes
   */
  int maxTokenChars(int longestToken);

  /** Frees the encoder. Idempotent. */
  @Override
  void close();
}
