package io.dynamo.frontend.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.FrontendAdmission;
import io.dynamo.config.frontend.ModelBounds;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.OverloadedException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RequestAdmissionTest {
  private final Metrics metrics = new Metrics();
  private final RequestAdmission admission =
      new RequestAdmission(2, FrontendAdmission.STANDARD, _ -> false, metrics);

  private long counted(String model, String type, String status, String errorType) {
    return metrics
        .counter(
            FrontendMetrics.REQUESTS,
            new Label("model", model),
            new Label("endpoint", "chat_completions"),
            new Label("request_type", type),
            new Label("status", status),
            new Label("error_type", errorType))
        .value();
  }

  @Test
  void aRequestBeyondTheLimitIsRefusedWithRetryAfterAndCounted() {
    admission.open();
    var first = admission.admit("chat_completions");
    admission.admit("chat_completions");
    assertThatThrownBy(() -> admission.admit("chat_completions"))
        .isInstanceOfSatisfying(
            ApiException.class,
            e -> {
              assertThat(e.error().status()).isEqualTo(503);
              assertThat(e.error().code()).isEqualTo("overloaded");
              assertThat(e.error().retryAfterSeconds()).isPositive();
            });
    assertThat(counted("unknown_model", "unary", "error", "overload")).isEqualTo(1);
    first.end(null);
    admission.admit("chat_completions");
  }

  @Test
  void theSlowestUploadGivesItsPlaceToANewRequest() {
    var clock = new AtomicLong();
    var bounded =
        new RequestAdmission(
            2,
            FrontendAdmission.STANDARD,
            new BodyBudget(new BodyBudget.Limits(1 << 20, 1 << 20, 1024)),
            _ -> false,
            metrics,
            clock::get);
    bounded.open();
    var slow = bounded.admit("chat_completions");
    var released = new AtomicInteger();
    slow.whenDisplaced(released::incrementAndGet);
    clock.set(RequestAdmission.UNDISTURBED_NANOS - 1);
    var complete = bounded.admit("chat_completions");
    complete.bodyArrived();
    assertThatThrownBy(() -> bounded.admit("chat_completions")).isInstanceOf(ApiException.class);
    clock.set(RequestAdmission.UNDISTURBED_NANOS);
    var third = bounded.admit("chat_completions");
    assertThat(bounded.admitted()).isEqualTo(2);
    assertThat(released).as("its body is released").hasValue(1);
    assertThatThrownBy(slow::bodyArrived)
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(503));
    slow.end(ApiError.of(503, "full"));
    assertThat(bounded.admitted()).as("it had no place left to free").isEqualTo(2);
    third.bodyArrived();
    clock.set(10 * RequestAdmission.UNDISTURBED_NANOS);
    assertThatThrownBy(() -> bounded.admit("chat_completions"))
        .as("complete bodies keep their places")
        .isInstanceOf(ApiException.class);
    third.end(null);
    complete.end(null);
    assertThat(bounded.admitted()).isZero();
  }

  @Test
  void requestsAreRefusedBeforeOpenAndWhileDraining() throws Exception {
    assertThatThrownBy(() -> admission.admit("chat_completions"))
        .hasMessage("Service is not ready");
    admission.open();
    var inside = admission.admit("chat_completions");
    assertThat(admission.drain(Duration.ZERO)).isEqualTo(1);
    assertThatThrownBy(() -> admission.admit("chat_completions"))
        .hasMessage("Service is not ready");
    inside.end(null);
    assertThat(admission.drain(Duration.ZERO)).isZero();
  }

  @Test
  void aRequestIsCountedOnceHoweverOftenItEnds() {
    admission.open();
    var account = admission.admit("chat_completions");
    account.setModel("m", true);
    account.recordTokens(0, 1);
    account.recordTokens(0, 3);
    account.end(null);
    account.end(ApiError.of(500, "late"));
    assertThat(counted("m", "stream", "success", "")).isEqualTo(1);
    assertThat(counted("m", "stream", "error", "internal")).isZero();
    assertThat(admission.admitted()).isZero();
    var model = new Label("model", "m");
    assertThat(metrics.level(FrontendMetrics.INFLIGHT, model).value()).isZero();
    assertThat(metrics.level(FrontendMetrics.QUEUED, model).value()).isZero();
    assertThat(metrics.counter(FrontendMetrics.OUTPUT_TOKENS, model).value()).isEqualTo(4);
  }

  @Test
  void theOverloadStatusReplacesOverloadsOnly() {
    var settings = new FrontendAdmission(ModelBounds.STANDARD, Map.of(), 429);
    var one = new RequestAdmission(1, settings, _ -> true, metrics);
    one.open();
    var account = one.admit("chat_completions");
    assertThatThrownBy(() -> one.admit("chat_completions"))
        .isInstanceOfSatisfying(
            ApiException.class,
            e -> {
              assertThat(e.error().status()).isEqualTo(429);
              assertThat(new String(e.error().body(), StandardCharsets.UTF_8))
                  .contains("\"type\":\"Overloaded\",\"code\":429");
            });
    account.setModel("m", false);
    assertThatThrownBy(
            () ->
                account.enter(
                    new WorkerSet(new EndpointId("ns", "c", "generate"), "m", null, null, 16),
                    Urgency.NONE,
                    one.bodies().open(),
                    Deadline.after(Duration.ofMinutes(1)),
                    new Cancellation()))
        .satisfies(e -> assertThat(account.errorFor(e).status()).isEqualTo(429));
    assertThat(account.errorFor(new OverloadedException("all busy")).status()).isEqualTo(429);
    assertThat(account.errorFor(new WorkerBusyException("one busy")).status()).isEqualTo(429);
    assertThat(account.errorFor(new NoWorkerException("nobody")).status()).isEqualTo(503);
    assertThat(account.errorFor(new IllegalStateException("a fault of ours")).status())
        .isEqualTo(500);
    account.end(account.errorFor(new OverloadedException("all busy")));
    assertThat(counted("m", "unary", "error", "overload")).isEqualTo(1);
  }

  @Test
  void anOverloadStatusOf503IsStillCountedAsOverload() {
    var settings = new FrontendAdmission(ModelBounds.STANDARD, Map.of(), 503);
    var one = new RequestAdmission(1, settings, _ -> false, metrics);
    one.open();
    var account = one.admit("chat_completions");
    assertThat(account.errorFor(new OverloadedException("all busy")).errorType())
        .isEqualTo("overload");
    assertThat(account.errorFor(new NoWorkerException("nobody")).errorType())
        .isEqualTo("unavailable");
    account.end(null);
  }

  @Test
  void eachTextOfARequestIsCountedAsARequest() {
    var three = new RequestAdmission(3, FrontendAdmission.STANDARD, _ -> false, metrics);
    three.open();
    var first = three.admit("chat_completions");
    first.reserveTexts(2);
    assertThat(three.admitted()).isEqualTo(2);
    var second = three.admit("chat_completions");
    assertThatThrownBy(() -> second.reserveTexts(2))
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(503));
    second.end(null);
    first.end(null);
    assertThat(three.admitted()).isZero();
    var alone = three.admit("chat_completions");
    alone.reserveTexts(128);
    assertThat(three.admitted()).as("never more than the bound").isEqualTo(3);
    alone.end(null);
    assertThat(three.admitted()).isZero();
  }
}
