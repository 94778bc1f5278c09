package io.dynamo.inference;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The log probabilities of an item's tokens, natural logarithms.
 *
 * @param cumulative sum over all tokens so far
 * @param tokens one for each new token, null when the worker does not report them; owned by the
 *     record
 * @param top the likeliest tokens at each new position; empty when the worker does not report them
 */
public record Logprobs(
    @Nullable Double cumulative, double @Nullable [] tokens, List<List<Top>> top) {
  public Logprobs {
    top = top.stream().map(List::copyOf).toList();
  }

  /**
   * An alternative token.
   *
   * @param rank 1 is the likeliest
   * @param token its text, null when the worker has none
   * @param bytes bytes of its text, each 0 to 255
   */
  public record Top(
      int rank, int tokenId, @Nullable String token, double logprob, int @Nullable [] bytes) {}
}
