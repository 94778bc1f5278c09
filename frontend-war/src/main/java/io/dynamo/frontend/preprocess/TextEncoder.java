package io.dynamo.frontend.preprocess;

/** Text to token ids by a {@code tokenizer.json}. Safe for concurrent use. */
interface TextEncoder extends AutoCloseable {
  /**
   * Ids of {@code text}; special tokens in it count, none is added.
   *
   * @param text {@linkplain WellFormed well formed}
   */
  int[] encode(String text);

  /** Frees what it holds. Idempotent. */
  @Override
  void close();
}
