package io.dynamo.frontend.admission;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.FailureMeters;
import io.dynamo.metrics.Metrics;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Lets a bounded number of requests in; the next is refused at once. Closed until opened. Safe for
 * concurrent use; only {@link #drain} blocks.
 */
public final class Admission {
  static final String UNKNOWN_MODEL = "unknown_model";

  private final int limit;
  private final Metrics metrics;
  private final FailureMeters failures;
  private final BodyBudget bodies;
  private final ConcurrentHashMap<String, ModelMeters> meters = new ConcurrentHashMap<>();
  private final Object lock = new Object();
  private boolean open; // guarded by lock
  private boolean wasOpened; // guarded by lock
  private int admitted; // guarded by lock

  /**
   * @param limit requests at once, {@code dynamo.frontend.max-concurrent-requests}
   */
  public Admission(int limit, Metrics metrics) {
    this(limit, BodyBudget.ofHeap(), metrics);
  }

  /**
   * @param bodies what the bodies of those let in may hold
   */
  public Admission(int limit, BodyBudget bodies, Metrics metrics) {
    this.limit = limit;
    this.bodies = bodies;
    this.metrics = metrics;
    this.failures = new FailureMeters(metrics);
  }

  /** What the bodies of all requests share. */
  public BodyBudget bodies() {
    return bodies;
  }

  /** From now on requests are let in. */
  public void open() {
    synchronized (lock) {
      open = true;
      wasOpened = true;
    }
  }

  /**
   * Lets a request in, or counts its refusal.
   *
   * @param endpoint Dynamo's label, {@code chat_completions} for example
   * @return its account, to be ended once
   * @throws ApiException with 503 and {@code Retry-After}
   */
  public RequestAccount admit(String endpoint) {
    var account = new RequestAccount(this, endpoint);
    ApiError refusal;
    synchronized (lock) {
      if (open && admitted < limit) {
        admitted++;
        return account;
      }
      refusal =
          open
              ? ApiError.unavailable(
                  "%d requests are under way and no more are let in; retry shortly"
                      .formatted(admitted),
                  "overloaded")
              : ApiError.unavailable("Service is not ready", null);
    }
    account.refused(refusal);
    throw new ApiException(refusal);
  }

  /** Requests that were let in and have not ended. */
  public int admitted() {
    synchronized (lock) {
      return admitted;
    }
  }

  /** Whether requests are let in as long as there is room. */
  public boolean isOpen() {
    synchronized (lock) {
      return open;
    }
  }

  /** Whether it was ever open. */
  public boolean wasOpened() {
    synchronized (lock) {
      return wasOpened;
    }
  }

  /**
   * Refuses what comes from now on and waits for those inside.
   *
   * @return how many are left when {@code timeout} has passed
   */
  public int drain(Duration timeout) throws InterruptedException {
    long until = System.nanoTime() + timeout.toNanos();
    synchronized (lock) {
      open = false;
      while (admitted > 0) {
        long left = until - System.nanoTime();
        if (left <= 0) {
          break;
        }
        lock.wait(left / 1_000_000, (int) (left % 1_000_000));
      }
      return admitted;
    }
  }

  void release() {
    synchronized (lock) {
      admitted--;
      lock.notifyAll();
    }
  }

  ModelMeters meters(String model) {
    return meters.computeIfAbsent(model, name -> new ModelMeters(metrics, name));
  }

  Metrics metrics() {
    return metrics;
  }

  FailureMeters failures() {
    return failures;
  }
}
