package io.dynamo.runtime.health;

import io.dynamo.concurrent.Alarms;
import io.dynamo.config.watch.StatusSettings;
import io.dynamo.request.EndpointHandler;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Maintains an endpoint's health: real items that are not errors prove it healthy; after a silence
 * its handler is called in-process, and the first item decides. If the settings turn canaries off,
 * the endpoint is healthy once started, and probed only after a call of {@linkplain #suspect
 * suspect} or {@linkplain #fail fail}. Safe for concurrent use.
 */
public final class Canary<Q, R> implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Canary.class.getName());

  /**
   * The least time from the start of a probe to that of the next, however often the endpoint is
   * suspected.
   */
  static final Duration BREATH = Duration.ofSeconds(1);

  /**
   * The endpoint to probe.
   *
   * @param payload supplies the request of the next probe
   * @param isError whether an item reports that the request failed
   */
  record Target<Q, R>(
      EndpointHandler<Q, R> handler, Supplier<? extends Q> payload, Predicate<R> isError) {}

  /** The timers, threads and clock of a canary. */
  record Means(Alarms alarms, Executor blocking, LongSupplier nanoTime) {}

  private final EndpointHealth health;
  private final Target<Q, R> target;
  private final Means means;
  private final Runnable onVerdict;
  private final boolean probes;
  private final boolean withdraws;
  private final Duration wait;
  private final Duration timeout;
  private volatile long lastProofNanos;
  private volatile boolean failing;
  private final Object lock = new Object();
  private Alarms.@Nullable Alarm alarm; // guarded by lock
  private @Nullable ProbeCall<R> probe; // guarded by lock
  private boolean begunOnce; // guarded by lock; a probe has begun
  private long lastBegunNanos; // guarded by lock
  private boolean suspected; // guarded by lock; the next alarm probes without a silence
  private boolean resting; // guarded by lock
  private boolean closed; // guarded by lock

  Canary(
      EndpointHealth health,
      StatusSettings settings,
      Target<Q, R> target,
      Means means,
      Runnable onVerdict) {
    this.health = health;
    this.target = target;
    this.means = means;
    this.onVerdict = onVerdict;
    this.probes = settings.canaries();
    this.withdraws = settings.withdraw();
    this.wait = settings.canaryWait();
    this.timeout = settings.canaryTimeout();
  }

  /**
   * Returns the handler with which to serve the endpoint: the given one, with its items observed.
   */
  public EndpointHandler<Q, R> handler() {
    return new WatchedHandler<>(target.handler(), target.isError(), this::prove);
  }

  /** Records that the endpoint is reachable from now on, for the first time or after a rest. */
  public void start() {
    synchronized (lock) {
      if (closed) {
        return;
      }
      resting = false;
    }
    lastProofNanos = means.nanoTime().getAsLong();
    health.set(!probes);
    if (probes) {
      arm(wait);
    }
  }

  /** Whether the endpoint is ready, as {@code /health} reports it. */
  public boolean isReady() {
    return health.isReady();
  }

  /**
   * Whether instances of the endpoint may be in discovery: not while it is failing, if so
   * configured.
   */
  public boolean isFit() {
    return !failing || !withdraws;
  }

  /** Whether the latest evidence on the endpoint is a failed probe. */
  public boolean isFailing() {
    return failing;
  }

  /**
   * Reports a suspicion: the endpoint is probed soon, and the probe decides. Also where silence is
   * not probed.
   */
  public void suspect(String why) {
    synchronized (lock) {
      var running = probe;
      if (closed || resting || suspected || (running != null && !running.isOver())) {
        return;
      }
      LOG.log(Level.DEBUG, "endpoint {0} is probed: {1}", health.name(), why);
      suspected = true;
      long since = means.nanoTime().getAsLong() - lastBegunNanos;
      rearm(begunOnce ? Duration.ofNanos(Math.max(0, BREATH.toNanos() - since)) : Duration.ZERO);
    }
  }

  /**
   * Reports a certain failure: the endpoint is unhealthy, and probes continue until one succeeds.
   */
  public void fail(String why) {
    synchronized (lock) {
      if (closed || resting) {
        return;
      }
      var running = probe;
      if (running == null || running.isOver()) {
        rearm(wait);
      }
    }
    judge(why);
  }

  /**
   * Marks the endpoint as out of service: it is not ready and not probed until {@linkplain #start
   * started} again, and does not keep the process from being ready while other endpoints are.
   */
  public void rest() {
    ProbeCall<R> running;
    synchronized (lock) {
      resting = true;
      suspected = false;
      failing = false;
      cancelAlarm();
      running = probe;
      health.rest();
    }
    if (running != null) {
      running.end("the endpoint rests");
    }
  }

  private void rearm(Duration delay) { // the caller holds lock
    cancelAlarm();
    alarm = means.alarms().after(delay, this::rung);
  }

  private void cancelAlarm() { // the caller holds lock
    var timer = alarm;
    if (timer != null) {
      timer.cancel();
      alarm = null;
    }
  }

  /** Notes that a requester received an item that is not an error. */
  private void prove() {
    lastProofNanos = means.nanoTime().getAsLong();
    if (!health.isReady() || failing) {
      judge(null);
    }
  }

  private void arm(Duration delay) {
    synchronized (lock) {
      if (!closed && !resting) {
        rearm(delay);
      }
    }
  }

  private void rung() {
    ProbeCall<R> begun;
    synchronized (lock) {
      if (closed || resting) {
        return;
      }
      long silent = means.nanoTime().getAsLong() - lastProofNanos;
      long left = wait.toNanos() - silent;
      if (left > 0 && !suspected && !failing) {
        rearm(Duration.ofNanos(left));
        return;
      }
      var earlier = probe;
      if (earlier != null && !earlier.isOver()) {
        alarm = means.alarms().after(wait, this::rung);
        return; // the failed probe's handler has not even returned: the endpoint stays failed
      }
      suspected = false;
      begunOnce = true;
      long begunNanos = means.nanoTime().getAsLong();
      lastBegunNanos = begunNanos;
      begun = new ProbeCall<>(timeout, target.isError(), failure -> ended(failure, begunNanos));
      probe = begun;
      alarm = means.alarms().after(timeout, () -> begun.end("no item came within " + timeout));
    }
    try {
      means.blocking().execute(() -> begun.run(target.handler(), target.payload().get()));
    } catch (RejectedExecutionException e) {
      close(); // the runtime is closing
    }
  }

  /**
   * Handles the end of a probe.
   *
   * @param failure null when the endpoint is healthy
   */
  private void ended(@Nullable String failure, long begunNanos) {
    synchronized (lock) {
      cancelAlarm();
      if (closed || resting) {
        return;
      }
      if (probes || failure != null) {
        alarm = means.alarms().after(wait, this::rung);
      }
    }
    if (failure == null) {
      lastProofNanos = means.nanoTime().getAsLong();
      judge(null);
    } else if (lastProofNanos - begunNanos <= 0) { // real traffic knows better
      judge(failure);
    }
  }

  private void judge(@Nullable String failure) {
    boolean changed;
    synchronized (lock) {
      if (closed || resting) {
        return;
      }
      changed = failing != (failure != null);
      failing = failure != null;
      health.set(failure == null);
    }
    if (changed) {
      if (failure == null) {
        LOG.log(Level.INFO, "endpoint {0} is well again", health.name());
      } else {
        LOG.log(Level.WARNING, "endpoint {0} is not well: {1}", health.name(), failure);
      }
    }
    try {
      means.blocking().execute(onVerdict);
    } catch (RejectedExecutionException e) {
      close(); // the runtime is closing
    }
  }

  /**
   * Stops probing: the endpoint is not ready from now on, and stays among the process's endpoints.
   */
  public void retire() {
    ProbeCall<R> running;
    synchronized (lock) {
      closed = true;
      cancelAlarm();
      running = probe;
      health.set(false);
    }
    if (running != null) {
      running.end("the endpoint is closing");
    }
  }

  /** Stops probing and takes the endpoint out of the process's health. Idempotent. */
  @Override
  public void close() {
    retire();
    health.close();
  }
}
