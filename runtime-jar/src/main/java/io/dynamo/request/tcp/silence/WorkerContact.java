package io.dynamo.request.tcp.silence;

import io.dynamo.config.plane.SilenceSettings;
import io.dynamo.config.plane.TcpTimeouts;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The signs of life of one worker process, by its address: whether it gives any, and how soon it
 * takes up requests. {@link #calledHome} and {@link #begun} may be called by any thread, all else
 * by the thread that looks at the answers.
 */
public final class WorkerContact {
  /** A request for a sign of life that is under way. Its outcome may come from any thread. */
  public static final class Probe {
    private enum Outcome {
      PENDING,
      ANSWERED,
      FAILED,
      NEVER_SENT
    }

    private volatile Outcome outcome = Outcome.PENDING;
    private long waitedNanos; // touched by the thread that looks only

    private Probe() {}

    /** The worker has answered. */
    public void answered() {
      outcome = Outcome.ANSWERED;
    }

    /** The worker cannot be reached. */
    public void failed() {
      outcome = Outcome.FAILED;
    }

    /** The worker was not asked. */
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

  private boolean wasHeard; // this and all below: of the thread that looks
  private boolean wasDelivering;
  private boolean isSuspect;
  private long sinceSignNanos = Long.MAX_VALUE / 2; // of life
  private long sinceDeliveryNanos = Long.MAX_VALUE / 2;
  private int seenCalls;
  private int seenBeginnings;
  private long sinceCallNanos;
  private long sinceBeginningNanos;
  private @Nullable Probe probe;
  private int missed;

  /**
   * @param nanoTime dates the measured times
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

  /** The worker called home for a request so long after it had acknowledged it. */
  public void calledHome(long tookNanos) {
    callTimes.record(tookNanos);
    calls.incrementAndGet();
  }

  /** The worker began an answer so long after it had called home for it. */
  public void begun(long tookNanos) {
    beginTimes.record(tookNanos);
    beginnings.incrementAndGet();
  }

  /** Notes the last look at an answer of the worker; {@code isSuspect} when it is too silent. */
  public void look(AnswerSilence answer, boolean isSuspect) {
    wasHeard |= answer.hasProgressed();
    wasDelivering |= answer.hasDelivered();
    this.isSuspect |= isSuspect;
  }

  /**
   * Draws the conclusions of one look at all its answers.
   *
   * @param elapsedNanos since the last look
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

  /** Probes that were left unanswered since the last sign of life. */
  public int missedProbes() {
    return missed;
  }

  /**
   * How long {@code answer} has waited for the worker to call home, or then to begin, if that is
   * too long. A worker that takes up other requests meanwhile works through its queue, and one that
   * delivers other answers may have no turn to give: they are given more time.
   *
   * @return negative to wait on
   */
  public long overdueNanos(AnswerSilence answer) {
    return switch (answer.stage()) {
      case SENT, BEGUN -> -1;
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
