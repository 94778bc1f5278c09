package io.dynamo.worker.engine.remote;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.Usage;
import org.jspecify.annotations.Nullable;

/**
 * The counts of one generation, from which its items are made. Changed by the generation's thread;
 * any thread may read them.
 */
final class RemoteText {
  private final int promptTokens;
  private final int budget;
  private final int maxTokens;
  private final boolean rated;
  private volatile int made; // written by one thread
  private volatile int cachedTokens = -1; // unknown
  private double cumulative;

  /**
   * @param budget number of tokens that were asked for
   * @param maxTokens more tokens are a fault of the server
   * @param rated whether log probabilities were requested
   */
  RemoteText(int promptTokens, int budget, int maxTokens, boolean rated) {
    this.promptTokens = promptTokens;
    this.budget = budget;
    this.maxTokens = maxTokens;
    this.rated = rated;
  }

  int promptTokens() {
    return promptTokens;
  }

  int budget() {
    return budget;
  }

  int made() {
    return made;
  }

  /** Returns how many tokens of the prompt the server had cached; 0 while unknown. */
  int cachedTokens() {
    return Math.max(0, cachedTokens);
  }

  void foundCached(int count) {
    cachedTokens = Math.min(count, promptTokens);
  }

  Usage usage() {
    int cached = cachedTokens;
    return new Usage(promptTokens, made, cached < 0 ? null : cached);
  }

  /**
   * Counts the tokens of a message and returns its item; the first and the last have a usage.
   *
   * @throws IllegalArgumentException when there are too many tokens
   */
  EngineOutput append(Chunk chunk) {
    int before = made;
    int now = before + chunk.tokens().length;
    if (now > maxTokens) {
      throw new IllegalArgumentException("%d tokens of at most %d".formatted(now, maxTokens));
    }
    made = now;
    return new EngineOutput(
        chunk.tokens(),
        null,
        chunk.finish(),
        null,
        0,
        before == 0 || chunk.finish() != null ? usage() : null,
        logprobs(chunk),
        chunk.finish() == FinishReason.STOP ? chunk.stop() : null,
        chunk.passedOn());
  }

  private @Nullable Logprobs logprobs(Chunk chunk) {
    var each = chunk.logprobs();
    if (!rated || each == null) {
      return null;
    }
    for (double one : each) {
      cumulative += one;
    }
    return new Logprobs(cumulative, each, chunk.top());
  }
}
