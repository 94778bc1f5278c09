package io.dynamo.frontend.admission;

import io.dynamo.config.frontend.FrontendAdmission;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.FailureMeters;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Lets a bounded number of requests in; the next is refused at once. Inside, each model has a
 * bounded number that run, and a bounded queue before them. Closed until opened. Safe for
 * concurrent use; only {@link #drain} blocks, and {@link RequestAccount#enter}.
 */
public final class RequestAdmission {
  static final String UNKNOWN_MODEL = "unknown_model";

  private static final int RETRY_SECONDS = 1;

  /** The time in which a body may arrive without losing its request's place to another request. */
  static final long UNDISTURBED_NANOS = 1_000_000_000L;

  private final int limit;
  private final FrontendAdmission perModel;
  private final Metrics metrics;
  private final FailureMeters failures;
  private final BodyBudget bodies;
  private final Predicate<WorkerSet> allBusy;
  private final ConcurrentHashMap<String, ModelMeters> meters = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, ModelGate> gates = new ConcurrentHashMap<>();
  private final LongSupplier nanoClock;
  private final Object lock = new Object();
  private final Set<RequestAccount> arriving = new LinkedHashSet<>(); // guarded by lock
  private final DeparturePace pace = new DeparturePace(); // guarded by lock
  private boolean open; // guarded by lock
  private boolean wasOpened; // guarded by lock
  private int admitted; // guarded by lock
  private volatile boolean refusesWaiting;

  /**
   * @param limit requests at once, {@code dynamo.frontend.max-concurrent-requests}
   * @param allBusy whether every worker of a model has more than it should; must not block
   */
  public RequestAdmission(
      int limit, FrontendAdmission perModel, Predicate<WorkerSet> allBusy, Metrics metrics) {
    this(
        limit,
        perModel,
        new BodyBudget(BodyBudget.Limits.ofHeap(Runtime.getRuntime().maxMemory(), limit)),
        allBusy,
        metrics);
  }

  /**
   * @param bodies the memory for bodies of admitted requests
   */
  public RequestAdmission(
      int limit,
      FrontendAdmission perModel,
      BodyBudget bodies,
      Predicate<WorkerSet> allBusy,
      Metrics metrics) {
    this(limit, perModel, bodies, allBusy, metrics, System::nanoTime);
  }

  RequestAdmission(
      int limit,
      FrontendAdmission perModel,
      BodyBudget bodies,
      Predicate<WorkerSet> allBusy,
      Metrics metrics,
      LongSupplier nanoClock) {
    this.limit = limit;
    this.nanoClock = nanoClock;
    this.perModel = perModel;
    this.bodies = bodies;
    this.allBusy = allBusy;
    this.metrics = metrics;
    this.failures = new FailureMeters(metrics);
  }

  /** The memory budget that the bodies of all requests share. */
  public BodyBudget bodies() {
    return bodies;
  }

  /** Starts admitting requests. */
  public void open() {
    synchronized (lock) {
      open = true;
      wasOpened = true;
    }
  }

  /**
   * Lets a request in, or counts its refusal. When all places are taken, the request whose body has
   * been arriving for the longest time, if for more than a second, gives its place to this one.
   *
   * @param endpoint Dynamo's label, {@code chat_completions} for example
   * @return its account, to be ended once
   * @throws ApiException with 503 and {@code Retry-After}
   */
  public RequestAccount admit(String endpoint) {
    var account = new RequestAccount(this, endpoint, nanoClock.getAsLong());
    @Nullable ApiError refusal; // null when it is let in
    RequestAccount displaced = null;
    synchronized (lock) {
      if (open && admitted >= limit) {
        displaced = displaceSlowest();
      }
      if (open && admitted < limit) {
        admitted++;
        arriving.add(account);
        if (admitted == limit) {
          pace.full(System.nanoTime());
        }
        refusal = null;
      } else {
        refusal = open ? full() : ApiError.unavailable("Service is not ready", null);
      }
    }
    if (displaced != null) {
      displaced.releaseBody();
    }
    if (refusal == null) {
      return account;
    }
    if (refusal.isOverload()) {
      countRefusal(UNKNOWN_MODEL, RefusalReason.SERVER_FULL);
    }
    var error = withOverloadStatus(refusal);
    account.recordRefusal(error);
    throw new ApiException(error);
  }

  /**
   * Frees the place of the request whose upload is the oldest. Called with the lock.
   *
   * @return that request, whose body is to be released; null when all uploads are new
   */
  private @Nullable RequestAccount displaceSlowest() {
    long now = nanoClock.getAsLong();
    var oldest = arriving.iterator();
    while (oldest.hasNext()) {
      var account = oldest.next();
      if (now - account.arrivedNanos() < UNDISTURBED_NANOS) {
        return null; // like all behind it
      }
      oldest.remove();
      int places = account.giveUpPlaces();
      admitted -= places;
      if (places > 0) {
        return account;
      }
    }
    return null;
  }

  /**
   * Ensures that a request keeps its place, as its body is complete.
   *
   * @throws ApiException with 503 and {@code Retry-After} when it has lost its place meanwhile
   */
  void bodyArrived(RequestAccount account) {
    ApiError refusal;
    synchronized (lock) {
      if (arriving.remove(account)) {
        return;
      }
      refusal = full();
    }
    countRefusal(UNKNOWN_MODEL, RefusalReason.SERVER_FULL);
    throw new ApiException(withOverloadStatus(refusal));
  }

  /** Called with the lock. */
  private ApiError full() {
    int seconds = pace.secondsUntil(1, System.nanoTime());
    return ApiError.overloaded(
        503,
        "%d requests are under way and no more are let in; retry in %d s"
            .formatted(admitted, seconds),
        seconds);
  }

  /** The error with the configured status for overload, if it is an overload and one is set. */
  ApiError withOverloadStatus(ApiError error) {
    var status = perModel.overloadStatus();
    return status == null || !error.isOverload() ? error : error.withStatus(status);
  }

  /**
   * The gate of {@code model}.
   *
   * @throws ApiException with 529 when all its workers are busy: such a request does not queue
   */
  ModelGate gate(String model, WorkerSet workers) {
    if (allBusy.test(workers)) {
      countRefusal(model, RefusalReason.WORKERS_BUSY);
      throw new ApiException(
          ApiError.overloaded(
              529,
              "every worker of model `%s` is busy; retry shortly".formatted(model),
              RETRY_SECONDS));
    }
    var gate =
        gates.computeIfAbsent(
            model,
            name ->
                new ModelGate(
                    name, perModel.of(name), new GateMeters(metrics, name), System::nanoTime));
    if (refusesWaiting) {
      gate.close(); // made after the others were closed, or closed already
    }
    return gate;
  }

  private void countRefusal(String model, RefusalReason reason) {
    metrics
        .counter(FrontendMetrics.ADMISSION_REFUSED, new Label("model", model), reason.label())
        .increment();
  }

  /** Refuses waiting requests and those that would have to wait. Running requests go on. */
  public void refuseWaiting() {
    refusesWaiting = true;
    gates.values().forEach(ModelGate::close);
  }

  /** The number of admitted requests that have not ended; each text counts as one. */
  public int admitted() {
    synchronized (lock) {
      return admitted;
    }
  }

  /** Whether requests wait for room at a model. */
  public boolean hasWaiting() {
    return gates.values().stream().anyMatch(gate -> gate.waiting() > 0);
  }

  /** Whether requests are admitted while there is room. */
  public boolean isOpen() {
    synchronized (lock) {
      return open;
    }
  }

  /** Whether {@link #open} was ever called. */
  public boolean wasOpened() {
    synchronized (lock) {
      return wasOpened;
    }
  }

  /**
   * Refuses new requests and waits for the admitted ones to end.
   *
   * @return how many have not ended when {@code timeout} has passed
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

  /**
   * Counts an admitted request once for each of its texts, at most as often as the limit.
   *
   * @return the number of places taken beyond the first
   * @throws ApiException with 503 and {@code Retry-After} when there is no room
   */
  int reserveTexts(int texts) {
    int more = Math.min(texts, limit) - 1;
    ApiError refusal;
    synchronized (lock) {
      if (admitted + more <= limit) {
        admitted += more;
        return more;
      }
      refusal = full();
    }
    countRefusal(UNKNOWN_MODEL, RefusalReason.SERVER_FULL);
    throw new ApiException(withOverloadStatus(refusal));
  }

  /**
   * Frees places of a request.
   *
   * @param tickets the number of places
   */
  void release(RequestAccount account, int tickets) {
    synchronized (lock) {
      arriving.remove(account);
      admitted -= tickets;
      pace.departed(System.nanoTime());
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
