package io.dynamo.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import org.junit.jupiter.api.Test;

class FailureMetersTest {
  private final Metrics metrics = new Metrics();
  private final FailureMeters failures = new FailureMeters(metrics);

  @Test
  void bodiesThatTheParserFailedOnAreCountedApart() {
    failures.count(ApiError.unreadable("a"));
    failures.count(ApiError.of(400, "b"));
    assertThat(count("request.unreadable")).isEqualTo(1);
    assertThat(count("request.invalid")).isEqualTo(1);
  }

  private double count(String reason) {
    return metrics
        .counter(
            FrontendMetrics.FAILURES,
            new Label("class", "InvalidRequest"),
            new Label("reason", reason))
        .value();
  }
}
