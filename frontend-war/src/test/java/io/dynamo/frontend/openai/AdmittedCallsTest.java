package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.frontend.FrontendAdmission;
import io.dynamo.config.frontend.ModelBounds;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests about files have places of the admission, and each is counted once. */
class AdmittedCallsTest {
  private final Metrics metrics = new Metrics();
  private final BodyBudget bodies = new BodyBudget(new BodyBudget.Limits(1 << 20, 1 << 20, 1024));
  private final RequestAdmission admission =
      new RequestAdmission(
          1,
          new FrontendAdmission(ModelBounds.STANDARD, Map.of(), 530),
          bodies,
          _ -> false,
          metrics);

  @BeforeEach
  void open() {
    admission.open();
  }

  private FrontendFixture.Recorded run(AdmittedCalls.Task task) {
    var answer = new FrontendFixture.Recorded();
    AdmittedCalls.run(admission, "files", answer, task);
    assertThat(admission.admitted()).isZero();
    assertThat(bodies.heldBytes()).isZero();
    return answer;
  }

  private long counted(String status, String errorType) {
    return metrics
        .counter(
            FrontendMetrics.REQUESTS,
            new Label("model", "unknown_model"),
            new Label("endpoint", "files"),
            new Label("request_type", "unary"),
            new Label("status", status),
            new Label("error_type", errorType))
        .value();
  }

  @Test
  void requestHasAPlaceUntilItIsAnswered() {
    var answer =
        run(
            (sink, place) -> {
              assertThat(admission.admitted()).isOne();
              place.share().chargeArrived(10_000);
              var second = new FrontendFixture.Recorded();
              AdmittedCalls.run(
                  admission, "files", second, (_, _) -> assertThat(true).as("admitted").isFalse());
              assertThat(second.status).as("as configured for overload").isEqualTo(530);
              sink.json(new byte[] {'{', '}'});
            });

    assertThat(answer.status).isEqualTo(200);
    assertThat(counted("success", "")).isOne();
    assertThat(counted("error", "overload")).isOne();
  }

  @Test
  void failuresAreAnsweredAndCountedOnce() {
    var refused =
        run(
            (_, _) -> {
              throw new ApiException(400, "the form breaks off");
            });
    var failed =
        run(
            (_, _) -> {
              throw new IllegalStateException("a secret");
            });

    assertThat(refused.status).isEqualTo(400);
    assertThat(failed.status).isEqualTo(500);
    assertThat(failed.text()).doesNotContain("secret");
    assertThat(counted("error", "validation")).isOne();
    assertThat(counted("error", "internal")).isOne();
  }

  @Test
  void clientThatLeavesIsCountedAsThat() {
    run(
        (sink, _) -> {
          sink.json(new byte[0]);
          throw new UncheckedIOException(new IOException("gone"));
        });

    assertThat(counted("error", "cancelled")).isOne();
    assertThat(metrics.level(FrontendMetrics.DISCONNECTED_CLIENTS).value()).isOne();
  }

  @Test
  void nothingIsServedBeforeTheServerIsReady() throws Exception {
    admission.drain(Duration.ZERO);

    assertThat(run((_, _) -> {}).status).isEqualTo(503);
  }
}
