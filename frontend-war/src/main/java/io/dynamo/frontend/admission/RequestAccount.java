package io.dynamo.frontend.admission;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.error.DynamoException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.metrics.Label;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The account of one request, from arrival to its one end. Written by the thread that serves the
 * request; {@link #end} may come from any thread, and only the first one counts.
 */
public final class RequestAccount {
  private static final double NANOS_PER_SECOND = 1e9;

  private final RequestAdmission admission;
  private final String endpoint;
  private final long arrived = System.nanoTime();
  private final long arrivedNanos; // by the clock of the admission
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile @Nullable ModelMeters meters;
  private volatile ModelGate.@Nullable Permit place;
  private volatile boolean streaming;
  private volatile boolean queued;
  private final AtomicInteger tickets = new AtomicInteger(1); // not given back yet
  private volatile Runnable whenDisplaced = () -> {};
  private int texts = 1;
  private long[] lastTokens = new long[1]; // nanos, by choice; 0 before its first token
  private Runnable whenFirstTokenComes = () -> {};
  private TokenPace pace = TokenPace.UNWATCHED;
  private int promptTokens;
  private long generated; // tokens, of all choices

  RequestAccount(RequestAdmission admission, String endpoint, long arrivedNanos) {
    this.admission = admission;
    this.endpoint = endpoint;
    this.arrivedNanos = arrivedNanos;
  }

  long arrivedNanos() {
    return arrivedNanos;
  }

  /** Gives up the places of a request whose body is still arriving; returns their number. */
  int giveUpPlaces() {
    return tickets.getAndSet(0);
  }

  /** Sets the task that frees the memory of a body when its request loses its place. */
  public void whenDisplaced(Runnable release) {
    whenDisplaced = release;
  }

  void releaseBody() {
    whenDisplaced.run();
  }

  /**
   * Records that the body is complete. From here on the request keeps its place to its end.
   *
   * @throws ApiException with 503 when it has lost its place: the server was full, and the body
   *     among the slowest to arrive
   */
  public void bodyArrived() {
    admission.bodyArrived(this);
  }

  /**
   * Sets the model and begins to count the request under its name.
   *
   * @param model from the catalog, never what a client made up: it becomes a label
   */
  public void setModel(String model, boolean stream) {
    var known = admission.meters(model);
    meters = known;
    streaming = stream;
    known.inflight.add(1);
    known.active.add(1);
    known.queued.add(1);
    queued = true;
    started();
  }

  private void started() {
    admission
        .metrics()
        .counter(FrontendMetrics.REQUESTS_STARTED, modelLabel(), endpointLabel(), typeLabel())
        .increment();
  }

  /**
   * Reserves room for each text of the request: each counts as a request of its own from here on.
   *
   * @throws ApiException with {@code Retry-After} when there is no room for all of them
   */
  public void reserveTexts(int count) {
    texts = count;
    tickets.addAndGet(admission.reserveTexts(count));
    if (over.get()) {
      admission.release(this, tickets.getAndSet(0)); // ended meanwhile
    }
  }

  /**
   * Waits until the model has room for the request. Called after the request's checks and before
   * its templates and tokenizer run.
   *
   * @param workers of the model that was set by {@link #setModel}
   * @param share the request's memory, accounted under waiting requests while it waits
   * @throws ApiException with {@code Retry-After} when there is no room for it
   * @throws DynamoException when its deadline passes or its client leaves before its turn
   */
  public void enter(
      WorkerSet workers,
      Urgency urgency,
      BodyBudget.Share share,
      Deadline deadline,
      Cancellation cancellation)
      throws InterruptedException {
    var known = Objects.requireNonNull(meters, "a request enters the model that it is serving");
    var gate = admission.gate(known.model.value(), workers);
    var taken = gate.enter(urgency, texts, share, deadline, cancellation);
    place = taken;
    if (over.get()) {
      taken.close(); // ended while it waited: end() did not see the permit
    }
  }

  /** The error that the client gets for {@code failure}. */
  public ApiError errorFor(Throwable failure) {
    return admission.withOverloadStatus(ApiError.of(failure));
  }

  /** Runs {@code task} when the first token is recorded, on the recording thread. */
  public void onFirstToken(Runnable task) {
    whenFirstTokenComes = task;
  }

  /** Sets the listener that gets the time of each token from now on. */
  public void setTokenPace(TokenPace listener) {
    pace = listener;
  }

  /** Sets the number of tokens of all prompts together. */
  public void setPromptTokens(int tokens) {
    promptTokens = tokens;
  }

  /** Records how many prompt tokens workers had in their caches. Called at most once. */
  public void recordCachedTokens(int tokens) {
    var known = meters;
    if (known != null) {
      known.cachedTokens.record(tokens, 1);
    }
  }

  /**
   * Sets whether the client requests a stream. Known before the model is, so that refusals are
   * counted under it.
   */
  public void setStreaming(boolean stream) {
    streaming = stream;
  }

  /**
   * Records tokens that have just arrived from the engine.
   *
   * @param choice the choice that they belong to, counted from 0 over all prompts
   */
  public void recordTokens(int choice, int count) {
    var known = meters;
    if (known == null || count <= 0) {
      return;
    }
    long now = System.nanoTime();
    if (queued) {
      begin(known, now);
      known.inputSequence.record(promptTokens, 1);
      pace.firstToken(choice, (now - arrived) / NANOS_PER_SECOND, promptTokens);
    }
    if (choice >= lastTokens.length) {
      lastTokens = Arrays.copyOf(lastTokens, Math.max(choice + 1, 2 * lastTokens.length));
    }
    long before = lastTokens[choice];
    if (before != 0) {
      double seconds = (now - before) / NANOS_PER_SECOND / count;
      known.interToken.record(seconds, count);
      pace.nextToken(choice, seconds);
    }
    lastTokens[choice] = now == 0 ? 1 : now;
    generated += count;
    known.outputTokens.add(count);
  }

  private void begin(ModelMeters known, long now) {
    queued = false;
    known.queued.add(-1);
    known.firstToken.record(now - arrived);
    whenFirstTokenComes.run();
  }

  /** Records the first part of an answer whose tokens are not known here. */
  public void recordAnswerBegun() {
    var known = meters;
    if (known != null && queued) {
      begin(known, System.nanoTime());
    }
  }

  /** Records the tokens of an answer as its worker has counted them. Called at most once. */
  public void recordReportedTokens(int prompt, int completion) {
    var known = meters;
    if (known != null) {
      known.inputSequence.record(prompt, 1);
      generated += completion;
      known.outputTokens.add(completion);
    }
  }

  /** Ends and counts the request; later calls are ignored. Null means success. */
  public void end(@Nullable ApiError error) {
    if (!over.compareAndSet(false, true)) {
      return;
    }
    count(error);
    var taken = place;
    if (taken != null) {
      taken.close();
    }
    var known = meters;
    if (known != null) {
      known.inflight.add(-1);
      known.active.add(-1);
      if (queued) {
        queued = false;
        known.queued.add(-1);
      }
      known.duration.record(System.nanoTime() - arrived);
      if (generated > 0) {
        known.outputSequence.record((double) generated, 1);
      }
    }
    admission.release(this, tickets.getAndSet(0));
  }

  /** Counts a client that left before its answer was complete. */
  public void recordDisconnect() {
    if (over.get()) {
      return;
    }
    admission.metrics().level(FrontendMetrics.DISCONNECTED_CLIENTS).add(1);
    admission
        .metrics()
        .counter(FrontendMetrics.CANCELLATIONS, modelLabel(), endpointLabel(), typeLabel())
        .increment();
  }

  void recordRefusal(ApiError error) {
    over.set(true);
    count(error);
  }

  private void count(@Nullable ApiError error) {
    if (meters == null) {
      started(); // counted as started, too, without a model
    }
    if (error != null) {
      admission.failures().count(error);
    }
    var type = error == null ? "" : error.errorType();
    admission
        .metrics()
        .counter(
            FrontendMetrics.REQUESTS,
            modelLabel(),
            endpointLabel(),
            typeLabel(),
            new Label("status", error == null ? "success" : "error"),
            new Label("error_type", type))
        .increment();
    if ("overload".equals(type)) {
      admission
          .metrics()
          .counter(FrontendMetrics.REJECTIONS, modelLabel(), endpointLabel())
          .increment();
    }
  }

  private Label modelLabel() {
    var known = meters;
    return known == null ? new Label("model", RequestAdmission.UNKNOWN_MODEL) : known.model;
  }

  private Label endpointLabel() {
    return new Label("endpoint", endpoint);
  }

  private Label typeLabel() {
    return new Label("request_type", streaming ? "stream" : "unary");
  }
}
