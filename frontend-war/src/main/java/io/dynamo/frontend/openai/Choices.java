package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.admission.RequestAccount;
import io.dynamo.frontend.sse.ItemSource;
import io.dynamo.frontend.sse.WakeSignal;
import io.dynamo.inference.Usage;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Merges all choices of one request into one stream, which a streamed answer sends and a unary one
 * collects. Each choice is a generation of its own; they take turns, so that none starves another,
 * and the failure of one ends all. For one thread, except {@link #abort}.
 */
final class Choices implements ItemSource<ChoiceDelta> {
  private final List<ChoiceStream> streams;
  private final int perPrompt;
  private final WakeSignal wakeSignal;
  private final Deadline deadline;
  private final RequestAccount account;
  private int turn;
  private Consumer<ChoiceDelta> observer = _ -> {};
  private @Nullable ChoiceDelta ahead; // looked at but not taken

  /**
   * @param streams by prompt, then by choice
   * @param perPrompt how many of them share a prompt
   * @param wakeSignal of all their inboxes
   */
  Choices(
      List<ChoiceStream> streams,
      int perPrompt,
      WakeSignal wakeSignal,
      Deadline deadline,
      RequestAccount account) {
    this.streams = streams;
    this.perPrompt = perPrompt;
    this.wakeSignal = wakeSignal;
    this.deadline = deadline;
    this.account = account;
  }

  /** Adds who sees each delta before it is returned. */
  void observe(Consumer<ChoiceDelta> next) {
    observer = observer.andThen(next);
  }

  /** Polls the first delta without taking it, so that an early failure is thrown here. */
  void peek() {
    if (ahead == null) {
      ahead = poll();
    }
  }

  @Override
  public @Nullable ChoiceDelta poll() {
    if (ahead != null) {
      var first = ahead;
      ahead = null;
      return first;
    }
    int count = streams.size();
    for (int i = 0; i < count; i++) {
      int at = turn + i < count ? turn + i : turn + i - count;
      ChoiceDelta delta;
      try {
        delta = streams.get(at).poll();
      } catch (DynamoException e) {
        cancel();
        throw e;
      }
      if (delta != null) {
        turn = at + 1 == count ? 0 : at + 1;
        account.recordTokens(at, delta.tokens());
        observer.accept(delta);
        return delta;
      }
    }
    return null;
  }

  @Override
  public boolean ended() {
    return ahead == null && allFinished();
  }

  private boolean allFinished() {
    for (int i = 0; i < streams.size(); i++) {
      if (!streams.get(i).isFinished()) {
        return false;
      }
    }
    return true;
  }

  private boolean isReady() {
    for (int i = 0; i < streams.size(); i++) {
      if (streams.get(i).isReady()) {
        return true;
      }
    }
    return allFinished();
  }

  @Override
  public boolean await(long nanos) throws InterruptedException {
    if (ahead != null) {
      return true;
    }
    long left = deadline.remainingNanos();
    if (wakeSignal.await(this::isReady, Math.min(nanos, left))) {
      return true;
    }
    if (left <= nanos) {
      for (var stream : streams) {
        if (!stream.isFinished()) {
          stream.fail(new DeadlineExceededException("no answer within the request's deadline"));
        }
      }
      return true;
    }
    return false;
  }

  @Override
  public void leave() {
    streams.forEach(ChoiceStream::leave);
  }

  @Override
  public void cancel() {
    streams.forEach(ChoiceStream::cancel);
  }

  /** The error that the client gets for {@code failure}. */
  ApiError errorFor(DynamoException failure) {
    return account.errorFor(failure);
  }

  /** Ends every choice with {@code cause}. Safe from any thread. */
  void abort(DynamoException cause) {
    streams.forEach(stream -> stream.abort(cause));
  }

  /** Estimates the nanoseconds spent on turning the tokens of all choices into text. */
  long detokenizeNanos() {
    long nanos = 0;
    for (var stream : streams) {
      nanos += stream.detokenizeNanos();
    }
    return nanos;
  }

  /**
   * Whether any choice has ended with a finish reason; without one no usage is sent, as in Dynamo.
   */
  boolean hasReason() {
    for (int i = 0; i < streams.size(); i++) {
      if (streams.get(i).hasReason()) {
        return true;
      }
    }
    return false;
  }

  /** The usage so far: the tokens of each prompt once, and those of all choices. */
  Usage usage() {
    int prompt = 0;
    int completion = 0;
    Integer cached = null;
    Integer reasoning = null;
    for (int i = 0; i < streams.size(); i++) {
      var stream = streams.get(i);
      completion += stream.completionTokens();
      var thoughts = stream.reasoningTokens();
      if (thoughts != null) {
        reasoning = (reasoning == null ? 0 : reasoning) + thoughts;
      }
      if (i % perPrompt == 0) {
        prompt += stream.promptTokens();
        var found = stream.cachedTokens();
        if (found != null) {
          cached = (cached == null ? 0 : cached) + found;
        }
      }
    }
    return new Usage(prompt, completion, cached, reasoning);
  }
}
