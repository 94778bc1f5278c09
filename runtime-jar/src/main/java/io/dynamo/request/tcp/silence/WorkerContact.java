package io.dynamo.request.tcp.silence;

import io.dynamo.config.plane.SilenceSettings;
import io.dynamo.config.plane.TcpTimeouts;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The signs of life of one worker process, identified by its address: whether it gives any, and how
 * soon it takes up requests. {@link #calledHome} and {@link #recordAnswerStart} may be called by
 * any thread, everything else by the thread that looks at the answers.
 */
public final class WorkerContact {
  /** A pending request for a sign of life. Its outcome may come from any thread. */
  public static final class Probe {
    private enum Outcome {
      PENDING,
      ANSWERED,
      FAILED,
      NEVER_SENT
    }

    private volatile Outcome outcome = Outcome.PENDING;
    private long waitedNanos; // used by the looking thread only

    private Probe() {}

    /** Notes that the worker has answered. */
    public void answered() {
      outcome = Outcome.ANSWERED;
    }

    /** Notes that the worker cannot be reached. */
    public void failed() {
      outcome = Outcome.FAILED;
    }

    /** Notes that the probe was never sent. */
    public void neverSent() {
      outcome = Outcome.NEVER_SENT;
    }
  }

  private final long silenceNanos;
  private final long probeNanos;
  private final long leastStartNanos;
  private final long mostToCallNanos;
  private final long mostToBeginNanos;
  private final StartTimes callTimes;
  private final StartTimes beginTimes;
  private final AtomicInteger calls = new AtomicInteger();
  private final AtomicInteger beginnings = new AtomicInteger();

  private boolean wasHeard; // this and all below: used by the looking thread only
  private boolean wasDelivering;
  private boolean isSuspect;
  private long sinceSignNanos = Long.MAX_VALUE / 2; // since the last sign of life
  private long sinceDeliveryNanos = Long.MAX_VALUE / 2;
  private int seenCalls;
  private int seenBeginnings;
  private long sinceCallNanos;
  private long sinceBeginningNanos;
  private @Nullable Probe probe;
  private int missed;

  /**
   * @param nanoTime monotonic clock that dates the measured times
   */
  public WorkerContact(SilenceSettings settings, TcpTimeouts timeouts, LongSupplier nanoTime) {
    silenceNanos = settings.silence().toNanos();
    probeNanos = settings.probe().toNanos();
    leastStartNanos = settings.leastStart().toNanos();
    mostToCallNanos = timeouts.callHome().toNanos();
    mostToBeginNanos = timeouts.prologue().toNanos();
    callTimes = new StartTimes(settings.leastStart(), timeouts.callHome(), nanoTime);
    beginTimes = new StartTimes(settings.leastStart(), timeouts.prologue(), nanoTime);
  }

  /** Records how long after its acknowledgement the worker called home for a request. */
  public void calledHome(long tookNanos) {
    callTimes.record(tookNanos);
    calls.incrementAndGet();
  }

  /** Records how long after calling home the worker began an answer. */
  public void recordAnswerStart(long tookNanos) {
    beginTimes.record(tookNanos);
    beginnings.incrementAndGet();
  }

  /**
   * Records the last look at an answer of the worker; {@code isSuspect} when it is silent for too
   * long.
   */
  public void look(AnswerSilence answer, boolean isSuspect) {
    wasHeard |= answer.hasProgressed();
    wasDelivering |= answer.hasDelivered();
    this.isSuspect |= isSuspect;
  }

  /**
   * Evaluates one look at all answers of the worker.
   *
   * @param elapsedNanos time since the last look
   * @return a probe to send now, or null
   */
  public @Nullable Probe lookEnds(long elapsedNanos) {
    sinceSignNanos += elapsedNanos;
    sinceDeliveryNanos = wasDelivering ? 0 : sinceDeliveryNanos + elapsedNanos;
    countStarts(elapsedNanos);
    if (probe != null) {
      follow(probe, elapsedNanos);
    }
    if (wasHeard) {
      signOfLife();
    }
    boolean silent = isSuspect;
    wasHeard = false;
    wasDelivering = false;
    isSuspect = false;
    if (!silent) {
      probe = null;
      missed = 0;
      return null;
    }
    if (probe != null || (missed == 0 && sinceSignNanos < silenceNanos)) {
      return null;
    }
    probe = new Probe();
    return probe;
  }

  private void countStarts(long elapsedNanos) {
    int called = calls.get();
    sinceCallNanos = called == seenCalls ? sinceCallNanos + elapsedNanos : 0;
    seenCalls = called;
    int began = beginnings.get();
    sinceBeginningNanos = began == seenBeginnings ? sinceBeginningNanos + elapsedNanos : 0;
    seenBeginnings = began;
  }

  private void follow(Probe asked, long elapsedNanos) {
    asked.waitedNanos += elapsedNanos;
    switch (asked.outcome) {
      case PENDING -> {
        if (asked.waitedNanos >= probeNanos) {
          probe = null;
          missed++;
        }
      }
      case ANSWERED -> signOfLife();
      case FAILED -> {
        probe = null;
        missed++;
      }
      case NEVER_SENT -> probe = null;
    }
  }

  private void signOfLife() {
    sinceSignNanos = 0;
    probe = null;
    missed = 0;
  }

  /** Returns the number of probes left unanswered since the last sign of life. */
  public int missedProbes() {
    return missed;
  }

  /**
   * Returns how long {@code answer} has waited for the worker to call home, or to begin after that,
   * if it has waited too long. A worker that takes up other requests meanwhile is working through
   * its queue, and one that delivers other answers may have no free place: both are given more
   * time.
   *
   * @return nanoseconds; negative to keep waiting
   */
  public long overdueNanos(AnswerSilence answer) {
    return switch (answer.stage()) {
      case SENT, STARTED -> -1;
      case ACKNOWLEDGED -> overdue(answer, callTimes, sinceCallNanos, mostToCallNanos);
      case CALLED_HOME -> overdue(answer, beginTimes, sinceBeginningNanos, mostToBeginNanos);
    };
  }

  private long overdue(
      AnswerSilence answer, StartTimes times, long sinceOtherNanos, long mostNanos) {
    long waited = answer.stageNanos();
    boolean mayBeFull = sinceDeliveryNanos < leastStartNanos;
    return waited >= mostNanos
            || (!mayBeFull && Math.min(waited, sinceOtherNanos) >= times.limitNanos())
        ? waited
        : -1;
  }
}
