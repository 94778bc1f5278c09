package io.dynamo.worker.engine.mock;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.ExpandedPrompt;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.Usage;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.RankQueue;
import org.jspecify.annotations.Nullable;

/**
 * One sequence being generated. Advanced by the rank's thread only; {@link #giveUp} may be called
 * by any thread.
 */
final class MockGeneration extends Sequence implements RankQueue.Entry {
  final GenerationStream stream;
  final long deadlineNanos;
  private final OracleTokens oracle;
  private final @Nullable OracleLogprobs logprobs; // null when not requested
  private final Runnable wake;
  private final int budget;
  private final int[] stopIds;
  private final int leastTokens; // before a stop id counts
  private long state;
  private volatile boolean givenUp;
  private Cancellation.@Nullable Registration registration;

  /**
   * @param wake makes the rank's thread tick soon
   */
  MockGeneration(
      GenerateRequest request,
      RequestContext context,
      int budget,
      long seed,
      int streamBuffer,
      RankSeries series,
      OracleTokens oracle,
      SequenceBlocks blocks,
      Runnable wake) {
    var prompt = ExpandedPrompt.tokensOf(request);
    super(prompt, prompt.length + budget, blocks);
    this.oracle = oracle;
    this.wake = wake;
    this.budget = budget;
    this.deadlineNanos = context.deadline().nanoTime();
    this.stopIds = request.stop().endTokenIds();
    var least = request.stop().minTokens();
    this.leastTokens = least == null ? 0 : least;
    this.state = OracleTokens.start(seed);
    for (int token : prompt) {
      state = OracleTokens.after(state, token);
    }
    var alternatives = request.output().logprobs();
    this.logprobs = alternatives == null ? null : new OracleLogprobs(oracle, alternatives);
    this.stream = new GenerationStream(streamBuffer, series, wake, this::giveUp);
  }

  /** Subscribes to the requester's cancellation; called before the rank sees this generation. */
  void follow(Cancellation cancellation) {
    registration = cancellation.onCancel(_ -> giveUp());
  }

  private void giveUp() {
    givenUp = true;
    wake.run();
  }

  boolean isGivenUp() {
    return givenUp;
  }

  @Override
  boolean hasRoom() {
    return stream.hasRoom();
  }

  /**
   * Makes the next token and offers it, unless it is the last.
   *
   * @return the last item, or null when more follow
   */
  @Nullable EngineOutput advance() {
    if (isFull()) {
      return EngineOutput.finish(FinishReason.LENGTH, usage()); // the budget is 0
    }
    int token = oracle.next(state, lastToken());
    if (stops(token)) {
      return EngineOutput.finish(FinishReason.STOP, usage());
    }
    boolean first = generated() == 0;
    append(token);
    var rated = logprobs == null ? null : logprobs.of(state, token);
    state = OracleTokens.after(state, token);
    if (isFull()) {
      return item(token, FinishReason.LENGTH, usage(), rated);
    }
    stream.offer(item(token, null, first ? usage() : null, rated));
    return null;
  }

  private static EngineOutput item(
      int token, @Nullable FinishReason finish, @Nullable Usage usage, @Nullable Logprobs rated) {
    return new EngineOutput(
        new int[] {token}, null, finish, null, 0, usage, rated, null, PassedOn.NONE);
  }

  private boolean stops(int token) {
    if (generated() < leastTokens) {
      return false;
    }
    for (int id : stopIds) {
      if (id == token) {
        return true;
      }
    }
    return false;
  }

  Usage usage() {
    return new Usage(promptTokens, generated(), reused);
  }

  int budget() {
    return budget;
  }

  /** Releases the blocks and unsubscribes from cancellation; the caller ends the stream. */
  void free() {
    blocks.release();
    unfollow();
  }

  @Override
  public void refuse(RuntimeException why) {
    unfollow();
    stream.fail(why);
  }

  /**
   * Unsubscribes from cancellation; also called on any thread for a generation that never held
   * blocks.
   */
  void unfollow() {
    if (registration != null) {
      registration.close();
    }
  }
}
