package io.dynamo.inference;

import org.jspecify.annotations.Nullable;

/**
 * What a worker adds to the tokens.
 *
 * @param logprobs how many alternatives per token come with their log probabilities; null is none
 * @param skipSpecialTokens whether special tokens are left out of the text; null means yes
 */
public record OutputOptions(@Nullable Integer logprobs, @Nullable Boolean skipSpecialTokens) {
  public static final OutputOptions DEFAULTS = new OutputOptions(null, null);
}
