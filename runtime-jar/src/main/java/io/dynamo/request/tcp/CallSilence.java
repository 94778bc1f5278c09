package io.dynamo.request.tcp;

import io.dynamo.discovery.Instance;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.pipeline.ReceivedStream;
import io.dynamo.request.tcp.silence.AnswerSilence;
import io.dynamo.request.tcp.silence.AnswerSilence.Stage;
import io.dynamo.request.tcp.silence.SilenceRules;
import io.dynamo.request.tcp.silence.WorkerContact;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the progress of one call and how long its worker has been silent. Event loops report the
 * steps; {@link #look} and {@link #judge} are called by the watch over all calls.
 */
final class CallSilence {
  private final WorkerContact contact;
  private final SilenceRules rules;
  private final LongSupplier nanoTime;
  private final AnswerSilence answer = new AnswerSilence(); // used by the watching thread only
  private Stage stage = Stage.SENT; // this and the next two: guarded by this
  private long stageAtNanos;
  private @Nullable ReceivedStream stream;
  private volatile boolean hasLeft;

  /**
   * @param contact state of the worker process at the instance's address
   * @param nanoTime monotonic clock that measures how long the worker takes for each step
   */
  CallSilence(WorkerContact contact, SilenceRules rules, LongSupplier nanoTime) {
    this.contact = contact;
    this.rules = rules;
    this.nanoTime = nanoTime;
  }

  WorkerContact contact() {
    return contact;
  }

  /** Notes the acknowledgement of the request; the worker may already have called home. */
  synchronized void acknowledged() {
    if (stage == Stage.SENT) {
      enter(Stage.ACKNOWLEDGED);
    }
  }

  synchronized void calledHome(ReceivedStream connected) {
    long took = stage == Stage.SENT ? 0 : nanoTime.getAsLong() - stageAtNanos;
    stream = connected;
    enter(Stage.CALLED_HOME);
    contact.calledHome(took);
  }

  /**
   * Notes that the worker has sent its prologue and called for the request's input, if there is
   * one.
   */
  synchronized void recordAnswerStart() {
    if (stage == Stage.CALLED_HOME) {
      long took = nanoTime.getAsLong() - stageAtNanos;
      enter(Stage.STARTED);
      contact.recordAnswerStart(took);
    }
  }

  private void enter(Stage next) {
    stage = next;
    stageAtNanos = nanoTime.getAsLong();
  }

  /** Notes whether the instance has left discovery. */
  void leftDiscovery(boolean left) {
    hasLeft = left;
  }

  /** Records the items that have arrived since the last look. */
  void look(long elapsedNanos) {
    Stage at;
    ReceivedStream from;
    synchronized (this) {
      at = stage;
      from = stream;
    }
    answer.look(
        at,
        from == null ? 0 : from.reads(),
        from == null ? 0 : from.items(),
        from != null && from.isPaused(),
        elapsedNanos);
    contact.look(answer, rules.isSuspect(answer));
  }

  /**
   * Returns why the call is to be given up, as of the last look; null to keep waiting.
   *
   * @param instance the instance that was called
   * @param home the address that the worker was to call
   */
  @Nullable WorkerLostException judge(Instance instance, String home) {
    long overdue = contact.overdueNanos(answer);
    if (overdue >= 0) {
      return answer.stage() == Stage.ACKNOWLEDGED
          ? lost(
              instance,
              ErrorCode.CONNECTION_TIMEOUT,
              "accepted a request and did not call within %s; can it reach %s?"
                  .formatted(seconds(overdue), home))
          : lost(
              instance,
              ErrorCode.RESPONSE_TIMEOUT,
              "called for a request and did not begin within " + seconds(overdue));
    }
    var verdict = rules.judge(answer, hasLeft, contact.missedProbes());
    if (verdict == null) {
      return null;
    }
    var silent = seconds(answer.silentNanos());
    return switch (verdict) {
      case UNANSWERED_PROBES ->
          lost(
              instance,
              ErrorCode.RESPONSE_TIMEOUT,
              "fell silent for %s and left %d probes unanswered"
                  .formatted(silent, contact.missedProbes()));
      case LEFT_DISCOVERY ->
          lost(instance, ErrorCode.DISCONNECTED, "left discovery and fell silent for " + silent);
      case NO_NEXT_ITEM ->
          lost(
              instance,
              ErrorCode.RESPONSE_TIMEOUT,
              "fell silent: no next item within %s".formatted(seconds(answer.itemlessNanos())));
      case NO_FIRST_ITEM ->
          lost(
              instance,
              ErrorCode.RESPONSE_TIMEOUT,
              "fell silent: no first item within %s".formatted(seconds(answer.itemlessNanos())));
    };
  }

  private static WorkerLostException lost(Instance instance, ErrorCode code, String what) {
    return new WorkerLostException(code, "instance %s %s".formatted(instance.id(), what));
  }

  private static String seconds(long nanos) {
    return Duration.ofNanos(nanos).toMillis() / 1000.0 + " s";
  }
}
