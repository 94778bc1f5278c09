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
 * A prompt with what was made after it, and what each token means for its reader. Changed by the
 * generation's thread; counts may be read by any.
 */
final class GeneratedText {
  private final EndTokens ends;
  private final int promptTokens;
  private final int budget;
  private final @Nullable Integer alternatives; // null where nobody asks how likely tokens are
  private int[] tokens; // the prompt, then what was generated
  private volatile int length;
  private volatile int cachedTokens; // of the prompt
  private double cumulative;

  /**
   * @param budget tokens to make at most
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

  /** A copy of all tokens. */
  int[] tokens() {
    return Arrays.copyOf(tokens, length);
  }

  int length() {
    return length;
  }

  int promptTokens() {
    return promptTokens;
  }

  /** Tokens of the prompt that the server had already. */
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

  /** Tokens that are to be made before an end counts. */
  int leastTokens() {
    return ends.leastTokens();
  }

  Usage usage() {
    return new Usage(promptTokens, made(), cachedTokens);
  }

  /**
   * Adds a token.
   *
   * @param how likely it was; null where the server does not tell
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

  /** Takes the newest token back: nobody has got it. */
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
