package io.dynamo.frontend.admission;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.metrics.Label;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The account of one request, from arrival to its one end. Written by the thread that serves the
 * request; {@link #end} may come from any thread, and only the first one counts.
 */
public final class RequestAccount {
  private final Admission admission;
  private final String endpoint;
  private final long arrived = System.nanoTime();
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile @Nullable ModelMeters meters;
  private volatile boolean streaming;
  private volatile boolean queued;
  private long lastToken; // nanos

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
    known.queued.add(1);
    queued = true;
    admission
        .metrics()
        .counter(FrontendMetrics.REQUESTS_STARTED, known.model, endpointLabel(), typeLabel())
        .increment();
  }

  /** The request's shape is known before its model is: refusals are then counted under it. */
  public void shape(boolean stream) {
    streaming = stream;
  }

  /** So many tokens have just come out of the engine. */
  public void tokens(int count) {
    var known = meters;
    if (known == null || count <= 0) {
      return;
    }
    long now = System.nanoTime();
    if (queued) {
      queued = false;
      known.queued.add(-1);
      known.firstToken.record(now - arrived);
    } else {
      long each = (now - lastToken) / count;
      for (int i = 0; i < count; i++) {
        known.interToken.record(each);
      }
    }
    lastToken = now;
    known.outputTokens.add(count);
  }

  /** Counts the request, unless that was done before. Null means it got what it asked for. */
  public void end(@Nullable ApiError error) {
    if (!over.compareAndSet(false, true)) {
      return;
    }
    count(error);
    var known = meters;
    if (known != null) {
      known.inflight.add(-1);
      if (queued) {
        queued = false;
        known.queued.add(-1);
      }
      known.duration.record(System.nanoTime() - arrived);
    }
    admission.release();
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
