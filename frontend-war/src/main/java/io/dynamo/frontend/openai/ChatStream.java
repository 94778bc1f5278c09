package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.admission.RequestAccount;
import io.dynamo.frontend.postprocess.TextDelta;
import io.dynamo.frontend.sse.Source;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Usage;
import org.jspecify.annotations.Nullable;

/**
 * The text of one choice as it grows: what a streamed answer sends and a unary one folds. For one
 * thread. Ends with a delta that has a finish reason, or fails; a worker's stream without either is
 * a failure, before which the text that was held back is delivered. When a stop string matches
 * here, the worker is told to stop; when it finished by itself, it is left to its end.
 */
public final class ChatStream implements Source<TextDelta> {
  private final Source<EngineOutput> items;
  private final TextPipe text;
  private final Deadline deadline;
  private final RequestAccount account;
  private int promptTokens;
  private int completionTokens;
  private @Nullable Integer cachedTokens;
  private @Nullable TextDelta ahead; // looked at but not taken
  private @Nullable DynamoException failure;
  private boolean finished;

  /**
   * @param promptTokens as tokenised here; the worker's own count wins
   */
  public ChatStream(
      Source<EngineOutput> items,
      TextPipe text,
      int promptTokens,
      Deadline deadline,
      RequestAccount account) {
    this.items = items;
    this.text = text;
    this.promptTokens = promptTokens;
    this.deadline = deadline;
    this.account = account;
  }

  /** Looks at the first delta, if it is there, so that an early failure is thrown here. */
  void peek() {
    if (ahead == null) {
      ahead = poll();
    }
  }

  @Override
  public @Nullable TextDelta poll() {
    if (ahead != null) {
      var first = ahead;
      ahead = null;
      return first;
    }
    if (finished) {
      return null;
    }
    if (failure != null) {
      return rest(failure);
    }
    @Nullable EngineOutput item;
    try {
      item = items.poll();
    } catch (DynamoException e) {
      return rest(failed(e));
    }
    if (item == null) {
      return items.ended()
          ? rest(
              failed(
                  new EngineFailedException(
                      ErrorCode.BACKEND_STREAM_INCOMPLETE,
                      "the worker's stream ended without a finish reason",
                      null)))
          : null;
    }
    var usage = item.usage();
    if (usage != null) {
      promptTokens = usage.promptTokens() > 0 ? usage.promptTokens() : promptTokens;
      cachedTokens = usage.cachedTokens() == null ? cachedTokens : usage.cachedTokens();
    }
    if (item.finishReason() == FinishReason.ERROR) {
      return rest(
          failed(
              new EngineFailedException(
                  ErrorCode.BACKEND_UNKNOWN, "the engine failed: " + item.errorMessage(), null)));
    }
    var delta = text.accept(item);
    completionTokens += delta.tokens();
    account.tokens(delta.tokens());
    if (delta.finish() != null) {
      finished = true;
      if (item.finishReason() == null) {
        items.cancel(); // found here: the worker does not know of it
      } else {
        items.leave();
      }
    }
    return delta;
  }

  private DynamoException failed(DynamoException cause) {
    failure = cause;
    items.cancel();
    return cause;
  }

  /** The text that was held back for a stop string; without such, or when it is out, throws. */
  private TextDelta rest(DynamoException cause) {
    var held = text.accept(EngineOutput.finish(FinishReason.ERROR, null)).text();
    if (held.isEmpty()) {
      throw cause;
    }
    return new TextDelta(held, 0, null, null);
  }

  @Override
  public boolean ended() {
    return finished && ahead == null;
  }

  @Override
  public boolean await(long nanos) throws InterruptedException {
    if (ahead != null || finished || failure != null) {
      return true;
    }
    long left = deadline.remainingNanos();
    if (items.await(Math.min(nanos, left))) {
      return true;
    }
    if (left <= nanos) {
      failed(new DeadlineExceededException("no answer within the request's deadline"));
      return true;
    }
    return false;
  }

  @Override
  public void leave() {
    items.leave();
  }

  @Override
  public void cancel() {
    items.cancel();
  }

  /** The count so far. */
  public Usage usage() {
    return new Usage(promptTokens, completionTokens, cachedTokens);
  }
}
