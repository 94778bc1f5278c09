package io.dynamo.inference;

import org.jspecify.annotations.Nullable;

/**
 * The data that a worker adds to the tokens.
 *
 * @param logprobs number of alternatives per token with log probabilities; null is none
 * @param promptLogprobs the same for the tokens of the prompt
 * @param skipSpecialTokens whether special tokens are left out of the text; null means yes
 * @param formattedPrompt whether the prompt is returned as text
 * @param tokensAsIds whether tokens in log probabilities are written as ids
 */
public record OutputOptions(
    @Nullable Integer logprobs,
    @Nullable Integer promptLogprobs,
    @Nullable Boolean skipSpecialTokens,
    @Nullable Boolean formattedPrompt,
    @Nullable Boolean tokensAsIds) {
  public static final OutputOptions DEFAULTS = new OutputOptions(null, null);

  public OutputOptions(@Nullable Integer logprobs, @Nullable Boolean skipSpecialTokens) {
    this(logprobs, null, skipSpecialTokens, null, null);
  }
}
