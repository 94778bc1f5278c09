package io.dynamo.frontend;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import org.jspecify.annotations.Nullable;

/** Counts error answers in Dynamo's classes. Safe for concurrent use. */
public final class FailureMeters {
  /** The labels of a failure, from a bounded set. */
  private record FailureClass(String name, String reason) {}

  private static final FailureClass EXHAUSTED =
      new FailureClass("CapacityExhausted", "capacity.exhausted");
  private static final FailureClass UNREADABLE =
      new FailureClass("InvalidRequest", "request.unreadable");
  private static final FailureClass INTERNAL = new FailureClass("Internal", "runtime.internal");

  private final Metrics metrics;

  public FailureMeters(Metrics metrics) {
    this.metrics = metrics;
  }

  /** Counts an error answer. A client that left, or that used the wrong method, is no failure. */
  public void count(ApiError error) {
    var kind =
        ApiError.UNREADABLE.equals(error.code())
            ? UNREADABLE
            : kind(error.status(), error.errorType());
    if (kind != null) {
      metrics
          .counter(
              FrontendMetrics.FAILURES,
              new Label("class", kind.name()),
              new Label("reason", kind.reason()))
          .increment();
    }
  }

  /**
   * Counts the answer to a request that has no account of its own, if it is a failure. A negative
   * answer of a probe ({@code /live}, {@code /health}) is none.
   */
  void countAnswer(String path, int status) {
    if (status >= 400 && !path.equals("/live") && !path.startsWith("/health")) {
      count(ApiError.of(status, ApiError.reason(status)));
    }
  }

  private static @Nullable FailureClass kind(int status, String errorType) {
    return switch (status) {
      case 401, 403 -> new FailureClass("Unauthenticated", "request.unauthenticated");
      case 404 -> new FailureClass("NotFound", "request.not_found");
      case 405, ApiError.CLIENT_GONE -> null;
      case 413, 431 -> new FailureClass("PayloadTooLarge", "request.payload_too_large");
      case 415 -> new FailureClass("UnsupportedMedia", "request.unsupported_media");
      case 429 -> new FailureClass("RateLimited", "request.rate_limited");
      case 501 -> new FailureClass("NotImplemented", "runtime.not_implemented");
      case 529 -> EXHAUSTED;
      case 503 -> "overload".equals(errorType) ? EXHAUSTED : INTERNAL;
      default -> status < 500 ? new FailureClass("InvalidRequest", "request.invalid") : INTERNAL;
    };
  }
}
