package io.dynamo.inference;

import java.util.ArrayList;
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
   * Returns those of all tokens of {@code parts}, which follow each other.
   *
   * @param parts at least one; all or none report the tokens, and all or none the likeliest
   */
  public static Logprobs joined(List<Logprobs> parts) {
    int count = 0;
    for (var part : parts) {
      count += part.tokens == null ? 0 : part.tokens.length;
    }
    double @Nullable [] tokens = parts.getFirst().tokens == null ? null : new double[count];
    var top = new ArrayList<List<Top>>();
    Double cumulative = null;
    int at = 0;
    for (var part : parts) {
      cumulative = part.cumulative == null ? cumulative : part.cumulative;
      if (tokens != null && part.tokens != null) {
        System.arraycopy(part.tokens, 0, tokens, at, part.tokens.length);
        at += part.tokens.length;
      }
      top.addAll(part.top);
    }
    return new Logprobs(cumulative, tokens, top);
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
