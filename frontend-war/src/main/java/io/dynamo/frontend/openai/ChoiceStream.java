package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.postprocess.MessageAssembler;
import io.dynamo.frontend.postprocess.TextDelta;
import io.dynamo.frontend.sse.Inbox;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.util.ArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The stream of one choice's text. For one thread. It ends with a delta that has a finish reason,
 * or fails; after a worker's stream without either it ends with the held back text and no reason.
 * When a stop string matches here, the worker is cancelled; when the worker finishes by itself, its
 * stream runs to its end.
 */
final class ChoiceStream {
  private static final int TIMED = 16; // one item in so many is timed; a power of 2

  private final int choice;
  private final Inbox<EngineOutput> items;
  private final TextPipe text;
  private final @Nullable MessageAssembler message;
  private final boolean joins;
  private @Nullable EngineOutput ahead; // taken, and not joined to the item before it
  private int promptTokens;
  private int completionTokens;
  private @Nullable Integer cachedTokens;
  private @Nullable DynamoException failure;
  private int accepted; // items
  private long timedNanos;
  private int timedTokens;
  private boolean finished;
  private boolean reasoned; // finished with a finish reason
  private boolean broken; // the held back text was delivered after a failure

  /**
   * @param choice the index that the client sees
   * @param message splits the text into parts; null when the text is the message
   * @param promptTokens as tokenised here; the worker's own count wins
   * @param joins whether all items that are ready become one delta
   */
  ChoiceStream(
      int choice,
      Inbox<EngineOutput> items,
      TextPipe text,
      @Nullable MessageAssembler message,
      int promptTokens,
      boolean joins) {
    this.choice = choice;
    this.items = items;
    this.text = text;
    this.message = message;
    this.promptTokens = promptTokens;
    this.joins = joins;
  }

  /**
   * The next delta, or null when none is ready.
   *
   * @throws DynamoException the failure that ended the choice
   */
  @Nullable ChoiceDelta poll() {
    if (finished) {
      return null;
    }
    if (failure != null) {
      return rest(failure);
    }
    @Nullable EngineOutput item;
    try {
      item = joins ? joined() : items.poll();
    } catch (DynamoException e) {
      return rest(fail(e));
    }
    if (item == null) {
      return items.ended() ? unfinished() : null;
    }
    if (item.annotation() != null) {
      return new ChoiceDelta(choice, "", 0, null, null, null, false, item);
    }
    if (item.index() != 0) {
      return rest(
          fail(
              new EngineFailedException(
                  ErrorCode.BACKEND_UNKNOWN,
                  "the worker answered choice %d of a request for one".formatted(item.index()),
                  null)));
    }
    var usage = item.usage();
    if (usage != null) {
      promptTokens = usage.promptTokens() > 0 ? usage.promptTokens() : promptTokens;
      cachedTokens = usage.cachedTokens() == null ? cachedTokens : usage.cachedTokens();
    }
    if (item.finishReason() == FinishReason.ERROR) {
      return rest(
          fail(
              new EngineFailedException(
                  ErrorCode.BACKEND_UNKNOWN, "the engine failed: " + item.errorMessage(), null)));
    }
    var delta = (accepted++ & (TIMED - 1)) == 0 ? timed(item) : text.accept(item);
    completionTokens += delta.tokens();
    if (delta.finish() != null) {
      finished = true;
      reasoned = true;
      if (item.finishReason() == null) {
        items.cancel(); // found here: the worker does not know of it
      } else {
        items.leave();
      }
    }
    return delta(delta, delta.finish() != null, item);
  }

  /** The next item, joined with those that are ready and continue it. */
  private @Nullable EngineOutput joined() {
    var first = ahead == null ? items.poll() : ahead;
    ahead = null;
    if (first == null || !JoinedItems.isOpen(first)) {
      return first;
    }
    var all = new ArrayList<EngineOutput>();
    all.add(first);
    for (var next = items.next(); next != null; next = items.next()) {
      if (!JoinedItems.continues(first, next)) {
        ahead = next;
        break;
      }
      all.add(next);
      if (!JoinedItems.isOpen(next)) {
        break;
      }
    }
    return JoinedItems.of(all);
  }

  private TextDelta timed(EngineOutput item) {
    long begin = System.nanoTime();
    var delta = text.accept(item);
    timedNanos += System.nanoTime() - begin;
    timedTokens += delta.tokens();
    return delta;
  }

  /**
   * Estimates the nanoseconds spent on turning tokens into text, from the items that were timed.
   */
  long detokenizeNanos() {
    return timedTokens == 0 ? 0 : timedNanos / timedTokens * completionTokens;
  }

  private ChoiceDelta delta(TextDelta delta, boolean last, @Nullable EngineOutput item) {
    var pieces = message == null ? null : message.accept(delta.text(), delta.tokens(), last);
    return new ChoiceDelta(
        choice,
        delta.text(),
        delta.tokens(),
        delta.finish(),
        delta.stop(),
        pieces,
        message != null && message.hasCalls(),
        item);
  }

  /** Ends the choice with {@code cause} at the next poll, and cancels the worker. */
  DynamoException fail(DynamoException cause) {
    failure = cause;
    items.cancel();
    return cause;
  }

  /**
   * Returns the held back text once; throws {@code cause} when there is none or it was returned.
   */
  private ChoiceDelta rest(DynamoException cause) {
    var held = broken ? null : held();
    broken = true;
    if (held == null) {
      throw cause;
    }
    return held;
  }

  /**
   * Ends the choice after a worker's stream without a finish reason; returns the held back text.
   */
  private @Nullable ChoiceDelta unfinished() {
    finished = true;
    items.leave();
    return held();
  }

  /** The text that was held back for a stop string or a marker; null when there is none. */
  private @Nullable ChoiceDelta held() {
    var held = text.accept(EngineOutput.finish(FinishReason.ERROR, null)).text();
    var delta = delta(new TextDelta(held, 0, null, null), true, null);
    boolean empty = delta.pieces() == null ? held.isEmpty() : delta.pieces().isEmpty();
    return empty ? null : delta;
  }

  boolean isFinished() {
    return finished;
  }

  /** Whether the choice ended with a finish reason. */
  boolean hasReason() {
    return reasoned;
  }

  /** Whether there is something to poll. */
  boolean isReady() {
    return !finished && (failure != null || ahead != null || items.isReady());
  }

  void abort(DynamoException cause) {
    items.abort(cause);
  }

  void leave() {
    items.leave();
  }

  void cancel() {
    items.cancel();
  }

  int promptTokens() {
    return promptTokens;
  }

  int completionTokens() {
    return completionTokens;
  }

  /** The number of tokens of thoughts; null when thoughts are not parsed. */
  @Nullable Integer reasoningTokens() {
    return message == null ? null : message.reasoningTokens();
  }

  @Nullable Integer cachedTokens() {
    return cachedTokens;
  }
}
