package io.dynamo.worker.engine.echo;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Usage;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.RankQueue;
import io.dynamo.worker.engine.TokenStream;
import org.jspecify.annotations.Nullable;

/** One prompt being echoed. Advanced by the engine's thread; cancelled by any thread. */
final class Echo implements RankQueue.Entry {
  final TokenStream stream;
  private final int[] tokens;
  private final int budget;
  private final long deadlineNanos;
  private final Runnable wake;
  private int sent;
  private long dueNanos;
  private boolean paused; // the stream has no room
  private volatile boolean givenUp;
  private Cancellation.@Nullable Registration registration;

  Echo(GenerateRequest request, RequestContext context, int streamBuffer, Runnable wake) {
    var most = request.stop().maxTokens();
    this.tokens = request.tokenIds();
    this.budget = most == null ? tokens.length : Math.min(most, tokens.length);
    this.deadlineNanos = context.deadline().nanoTime();
    this.wake = wake;
    this.stream = new TokenStream(streamBuffer, wake, this::giveUp);
  }

  /**
   * Subscribes to the requester's cancellation; called before the engine's thread sees this echo.
   */
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

  void unfollow() {
    if (registration != null) {
      registration.close();
    }
  }

  @Override
  public void refuse(RuntimeException why) {
    unfollow();
    stream.fail(why);
  }

  void beginAt(long now) {
    dueNanos = now;
  }

  /**
   * Sends the tokens that are due.
   *
   * @return the action that ends the stream, to be run once the echo no longer counts as live; null
   *     when the echo continues
   */
  @Nullable Runnable advance(long now, long intervalNanos) {
    if (givenUp) {
      return end(FinishReason.CANCELLED);
    }
    if (now - deadlineNanos >= 0) {
      unfollow();
      var late =
          new DeadlineExceededException(
              "the deadline passed after %d of %d tokens".formatted(sent, budget));
      return () -> stream.fail(late);
    }
    paused = !stream.hasRoom();
    if (!paused && now - dueNanos >= 0) {
      if (sent == budget) {
        return end(FinishReason.LENGTH); // the budget is 0
      }
      int token = tokens[sent++];
      if (sent == budget) {
        return end(budget < tokens.length ? FinishReason.LENGTH : FinishReason.STOP, token);
      }
      stream.offer(EngineOutput.ofTokens(token));
      dueNanos = now + intervalNanos;
    }
    return null;
  }

  private Runnable end(FinishReason reason, int... token) {
    unfollow();
    var last = EngineOutput.finish(reason, new Usage(tokens.length, sent, 0), token);
    return () -> stream.finish(last);
  }

  long untilDue(long now) {
    long deadline = Math.max(0, deadlineNanos - now);
    return paused ? deadline : Math.min(deadline, Math.max(0, dueNanos - now));
  }
}
