package io.dynamo.frontend.preprocess;

/**
 * The text side of one model: its chat template, its tokenizer, its vocabulary. Safe for concurrent
 * use.
 */
public interface ModelText extends AutoCloseable {
  /**
   * The prompt's text, generation prompt included.
   *
   * @throws io.dynamo.error.InvalidRequestException when the template refuses, with the template's
   *     own message
   */
  String render(ChatPrompt prompt);

  /** Token ids of a text; special tokens in it count as such, and none is added. */
  int[] encode(String text);

  /** The vocabulary. */
  TokenTable tokens();

  /** Ids that end a text of this model. Not to be changed. */
  int[] eosTokenIds();

  /** Frees what the tokenizer holds. Idempotent. */
  @Override
  void close();
}
