package io.dynamo.worker.engine.llamacpp;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.StopReason;
import io.dynamo.inference.Usage;
import io.dynamo.worker.engine.sampling.EndTokens;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A prompt with its generated text, and the finish reason and item of each token. Changed by the
 * generation's thread; any thread may read the counts.
 */
final class GeneratedText {
  private final EndTokens ends;
  private final int promptTokens;
  private final int budget;
  private final @Nullable Integer alternatives; // null when log probabilities are not requested
  private int[] tokens; // the prompt, then the generated tokens
  private volatile int length;
  private volatile int cachedTokens; // prompt tokens that the server had cached
  private double cumulative;

  /**
   * @param budget maximum number of tokens to generate
   * @param alternatives likely tokens reported with each token; null reports no probability at all
   */
  GeneratedText(int[] prompt, int budget, EndTokens ends, @Nullable Integer alternatives) {
    this.ends = ends;
    this.promptTokens = prompt.length;
    this.budget = budget;
    this.alternatives = alternatives;
    this.tokens = Arrays.copyOf(prompt, promptTokens + Math.min(budget, 64));
    this.length = promptTokens;
  }

  /** Returns a copy of all tokens. */
  int[] tokens() {
    return Arrays.copyOf(tokens, length);
  }

  int length() {
    return length;
  }

  int promptTokens() {
    return promptTokens;
  }

  /** Returns how many tokens of the prompt the server had cached. */
  int cachedTokens() {
    return cachedTokens;
  }

  void foundCached(int count) {
    cachedTokens = Math.min(count, promptTokens);
  }

  int made() {
    return length - promptTokens;
  }

  int budget() {
    return budget;
  }

  /** Returns how many tokens must be generated before an end token counts. */
  int leastTokens() {
    return ends.leastTokens();
  }

  Usage usage() {
    return new Usage(promptTokens, made(), cachedTokens);
  }

  /**
   * Appends a token.
   *
   * @param how the token's log probability; null where the server does not report it
   * @return its item, which has a finish reason when it is the last
   */
  EngineOutput append(int token, Step.@Nullable Rated how) {
    if (length == tokens.length) {
      tokens = Arrays.copyOf(tokens, Math.min(2 * length, promptTokens + budget));
    }
    int before = made();
    int at = length;
    tokens[at] = token;
    length = at + 1;
    FinishReason finish = null;
    StopReason stop = null;
    if (before >= ends.leastTokens() && ends.isEndOfText(token)) {
      finish = FinishReason.EOS;
    } else if (before >= ends.leastTokens() && ends.isStop(token)) {
      finish = FinishReason.STOP;
      stop = new StopReason.Token(token);
    } else if (made() == budget) {
      finish = FinishReason.LENGTH;
    }
    return new EngineOutput(
        new int[] {token},
        null,
        finish,
        null,
        0,
        before == 0 || finish != null ? usage() : null,
        logprobs(how),
        stop,
        PassedOn.NONE);
  }

  /** Removes the newest token, which has not been delivered. */
  void takeBack() {
    int less = length - 1;
    length = less;
  }

  private @Nullable Logprobs logprobs(Step.@Nullable Rated how) {
    if (alternatives == null || how == null) {
      return null;
    }
    cumulative += how.logprob();
    var top = how.top().subList(0, Math.min(alternatives, how.top().size()));
    return new Logprobs(cumulative, new double[] {how.logprob()}, List.of(top));
  }
}
