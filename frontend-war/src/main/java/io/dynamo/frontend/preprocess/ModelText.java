package io.dynamo.frontend.preprocess;

import io.dynamo.frontend.preprocess.bpe.TooManyTokensException;
import io.dynamo.model.vocabulary.TokenTable;
import org.jspecify.annotations.Nullable;

/** The chat template, tokenizer and vocabulary of one model. Safe for concurrent use. */
public interface ModelText extends AutoCloseable {
  /**
   * The prompt's text, generation prompt included.
   *
   * @throws io.dynamo.error.InvalidRequestException when the template refuses, with the template's
   *     own message
   */
  PromptText render(ChatPrompt prompt);

  /**
   * Token ids of a prompt's text; no special token is added.
   *
   * @param maxTokens where to stop; more may come where stopping would save nothing
   * @throws TooManyTokensException when there are more
   */
  int[] encode(PromptText prompt, int maxTokens);

  /** All token ids of a prompt's text. */
  default int[] encode(PromptText prompt) {
    return encode(prompt, Integer.MAX_VALUE);
  }

  /** As for a {@linkplain PromptText#whole whole text}: special tokens in it count as such. */
  default int[] encode(String text, int maxTokens) {
    return encode(PromptText.whole(text), maxTokens);
  }

  /** All token ids of a text, special tokens in it included. */
  default int[] encode(String text) {
    return encode(text, Integer.MAX_VALUE);
  }

  /**
   * The most characters (UTF-16) that one token can stand for, at least 1: a text has no fewer
   * tokens than its length divided by this.
   */
  int maxTokenChars();

  /** The vocabulary. */
  TokenTable tokens();

  /** Ids that end a text of this model. Not to be changed. */
  int[] eosTokenIds();

  /** How the model counts the tokens of images; null when that is not known. */
  default @Nullable ImageTokens images() {
    return null;
  }

  /** Frees the tokenizer. Idempotent. */
  @Override
  void close();
}
