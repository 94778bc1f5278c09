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

  private final Admission admission;
  private final String endpoint;
  private final long arrived = System.nanoTime();
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile @Nullable ModelMeters meters;
  private volatile ModelGate.@Nullable Place place;
  private volatile boolean streaming;
  private volatile boolean queued;
  private final AtomicInteger tickets = new AtomicInteger(1); // not given back yet
  private int texts = 1;
  private long[] lastTokens = new long[1]; // nanos, by choice; 0 before its first token
  private Runnable whenFirstTokenComes = () -> {};
  private TokenPace pace = TokenPace.UNWATCHED;
  private int promptTokens;
  private long generated; // tokens, of all choices

  RequestAccount(Admission admission, String endpoint) {
    this.admission = admission;
    this.endpoint = endpoint;
  }

  /**
   * The request named a model that exists.
   *
   * @param model from the catalog, never what a client made up: it becomes a label
   */
  public void serving(String model, boolean stream) {
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
   * The request is for so many texts: each is counted from here on as a request of its own.
   *
   * @throws ApiException with {@code Retry-After} when there is no room for all of them
   */
  public void texts(int count) {
    texts = count;
    tickets.addAndGet(admission.widen(count));
    if (over.get()) {
      admission.release(tickets.getAndSet(0)); // ended meanwhile
    }
  }

  /**
   * Waits for the request's turn. What it asks for is checked by then, and nothing costly was done
   * for it yet.
   *
   * @param workers of its model, the one that it was said to be {@link #serving}
   * @param share what it holds; held among those that wait, while it waits
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
      taken.close(); // ended while it waited: nobody else will
    }
  }

  /** What a client is told of {@code failure}. */
  public ApiError told(Throwable failure) {
    return admission.told(ApiError.of(failure));
  }

  /** {@code task} is run when the first token comes, on the thread that tells of it. */
  public void onFirstToken(Runnable task) {
    whenFirstTokenComes = task;
  }

  /** {@code listener} is told from now on how fast the tokens come. */
  public void onTokens(TokenPace listener) {
    pace = listener;
  }

  /** The request's prompts have so many tokens together. */
  public void prompts(int tokens) {
    promptTokens = tokens;
  }

  /** A worker has told how many of the prompts' tokens it had; at most once. */
  public void cached(int tokens) {
    var known = meters;
    if (known != null) {
      known.cachedTokens.record(tokens, 1);
    }
  }

  /**
   * Sets whether the client wants a stream. Known before the model is, so that refusals are counted
   * under it.
   */
  public void setStreaming(boolean stream) {
    streaming = stream;
  }

  /**
   * So many tokens have just come out of the engine.
   *
   * @param choice whose they are, counted from 0 over all prompts
   */
  public void tokens(int choice, int count) {
    var known = meters;
    if (known == null || count <= 0) {
      return;
    }
    long now = System.nanoTime();
    if (queued) {
      queued = false;
      known.queued.add(-1);
      known.firstToken.record(now - arrived);
      known.inputSequence.record(promptTokens, 1);
      whenFirstTokenComes.run();
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

  /** Counts the request, unless that was done before. Null means it got what it asked for. */
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
    admission.release(tickets.getAndSet(0));
  }

  /** The client left before its answer was done. */
  public void disconnected() {
    if (over.get()) {
      return;
    }
    admission.metrics().level(FrontendMetrics.DISCONNECTED_CLIENTS).add(1);
    admission
        .metrics()
        .counter(FrontendMetrics.CANCELLATIONS, modelLabel(), endpointLabel(), typeLabel())
        .increment();
  }

  void refused(ApiError error) {
    over.set(true);
    count(error);
  }

  private void count(@Nullable ApiError error) {
    if (meters == null) {
      started(); // what ends has begun, whatever it asked for
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
    return known == null ? new Label("model", Admission.UNKNOWN_MODEL) : known.model;
  }

  private Label endpointLabel() {
    return new Label("endpoint", endpoint);
  }

  private Label typeLabel() {
    return new Label("request_type", streaming ? "stream" : "unary");
  }
}
