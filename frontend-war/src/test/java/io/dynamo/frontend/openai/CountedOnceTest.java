package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.FrontendAdmission;
import io.dynamo.config.frontend.ModelBounds;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.OverloadedException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.dispatch.Dispatcher;
import io.dynamo.frontend.dispatch.RouteTrace;
import io.dynamo.frontend.openai.FrontendFixture.Recorded;
import io.dynamo.frontend.sse.DisconnectWatcher;
import io.dynamo.frontend.sse.FakeHangUps;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.metrics.Histogram;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.request.RequestContext;
import java.io.ByteArrayInputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every request gets one answer and is counted once, however it ends, and holds no resource
 * afterwards.
 */
class CountedOnceTest implements Dispatcher {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final int RUNNING = 4;

  /** The course of a request, which its prompt names for the worker. */
  private enum Fate {
    FINISH,
    WORKER_LOST,
    WORKER_LOST_LATE,
    WORKERS_FULL,
    HANG,
    HANG_LATE,
    CLIENT_LEAVES,
    NO_JSON,
    INVALID,
    UNKNOWN_MODEL,
    NO_JSON_TYPE
  }

  /** One series of a family, read when the run is over. */
  private record Series(String name, List<Label> labels) {}

  private final FakeHangUps clients = new FakeHangUps();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final DisconnectWatcher watcher = clients.watcher();
  private final AtomicInteger asked = new AtomicInteger(); // workers
  private final Map<Series, DoubleSupplier> numbers = new ConcurrentHashMap<>();
  private FrontendFixture frontend = open(LONG, LONG);

  private FrontendFixture open(Duration deadline, Duration patience) {
    numbers.clear();
    var opened =
        new FrontendFixture(
            deadline,
            watcher,
            1 << 20,
            new FrontendAdmission(new ModelBounds(RUNNING, 6, patience), Map.of(), null),
            threads);
    opened.through = this;
    opened.metrics.attach(
        new Metrics.Outlet() {
          @Override
          public void counter(MetricName name, List<Label> labels, Metrics.Counter counter) {
            numbers.put(new Series(name.name(), labels), counter::value);
          }

          @Override
          public void gauge(MetricName name, List<Label> labels, DoubleSupplier value) {
            numbers.put(new Series(name.name(), labels), value);
          }

          @Override
          public void histogram(MetricName name, List<Label> labels, Histogram histogram) {}
        });
    return opened;
  }

  @AfterEach
  void close() {
    frontend.close();
    watcher.close();
    threads.shutdownNow();
  }

  /** The sum over those labels of a family that {@code wanted} are among. */
  private long sum(MetricName name, Label... wanted) {
    return (long)
        numbers.entrySet().stream()
            .filter(series -> series.getKey().name().equals(name.name()))
            .filter(series -> series.getKey().labels().containsAll(List.of(wanted)))
            .mapToDouble(series -> series.getValue().getAsDouble())
            .sum();
  }

  private long errors(String errorType) {
    return sum(FrontendMetrics.REQUESTS, new Label("error_type", errorType));
  }

  @Override
  public RouteTrace route(ServedModel model, GenerateRequest request, RequestContext context) {
    throw new AssertionError("nobody asks for a route");
  }

  @Override
  public Flow.Publisher<EngineOutput> generate(
      ServedModel model, GenerateRequest request, RequestContext context, RouteTrace trail) {
    var fate = Fate.valueOf(Objects.requireNonNull(context.metadata().get("fate")));
    asked.incrementAndGet();
    return subscriber ->
        subscriber.onSubscribe(
            new Flow.Subscription() {
              private boolean begun;

              @Override
              public void request(long count) {
                if (!begun) {
                  begun = true;
                  act(fate, subscriber);
                }
              }

              @Override
              public void cancel() {}
            });
  }

  private static void act(Fate fate, Flow.Subscriber<? super EngineOutput> to) {
    switch (fate) {
      case FINISH -> {
        to.onNext(EngineOutput.ofTokens('a', 'b'));
        to.onNext(EngineOutput.finish(FinishReason.EOS, null, 3));
        to.onComplete();
      }
      case WORKERS_FULL -> to.onError(new OverloadedException("all are busy"));
      case WORKER_LOST -> to.onError(lost());
      case WORKER_LOST_LATE -> {
        to.onNext(EngineOutput.ofTokens('a'));
        to.onError(lost());
      }
      case HANG_LATE, CLIENT_LEAVES -> to.onNext(EngineOutput.ofTokens('a'));
      case HANG -> {}
      case NO_JSON, INVALID, UNKNOWN_MODEL, NO_JSON_TYPE ->
          throw new AssertionError(fate + " reached a worker");
    }
  }

  private static WorkerLostException lost() {
    return new WorkerLostException(ErrorCode.DISCONNECTED, "the worker is gone");
  }

  private static String body(Fate fate, boolean streams) {
    if (fate == Fate.NO_JSON) {
      return "{\"model\":";
    }
    return "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"temperature\":%d,\"stream\":%s}"
        .formatted(
            fate == Fate.UNKNOWN_MODEL ? "nope" : "script", fate == Fate.INVALID ? 9 : 1, streams);
  }

  /** Sends one request from the client's {@code port} and returns at once. */
  private Waited send(Fate fate, boolean streams, int port, Map<String, String> more) {
    var headers = new HashMap<>(more);
    headers.put("x-dynamo-meta-fate", fate.name());
    if (fate == Fate.NO_JSON_TYPE) {
      headers.put("content-type", "text/plain");
    }
    var body = body(fate, streams).getBytes(StandardCharsets.UTF_8);
    var answer = new Waited();
    frontend.completions.serve(
        TextService.CHAT,
        new IncomingRequest(
            headers.getOrDefault("content-type", "application/json"),
            body.length,
            headers,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 8000),
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
            new ByteArrayInputStream(body)),
        answer);
    return answer;
  }

  /** Signals the start of an answer. */
  private static final class Waited extends Recorded {
    final CountDownLatch begun = new CountDownLatch(1);

    @Override
    public void error(ApiError failure) {
      super.error(failure);
      begun.countDown();
    }

    @Override
    public void json(byte[] json) {
      super.json(json);
      begun.countDown();
    }

    @Override
    public void events(StreamBody stream) {
      begun.countDown();
      super.events(stream);
    }
  }

  private static void until(BooleanSupplier reached) {
    var limit = Deadline.after(Duration.ofSeconds(30));
    while (!reached.getAsBoolean()) {
      assertThat(limit.isExpired()).as("took too long").isFalse();
      LockSupport.parkNanos(500_000);
    }
  }

  private void untilAllEnded() {
    until(() -> frontend.admission.admitted() == 0);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8}) // the seed names the failing run
  void everyRequestIsAnsweredAndCountedOnce(long seed) {
    frontend = open(Duration.ofMillis(300), Duration.ofMillis(100));
    var random = new Random(seed);
    int requests = 200;
    var answers = new ArrayList<Waited>();
    int refusedAtTheDoor = 0;
    for (int i = 0; i < requests; i++) {
      var fate = Fate.values()[random.nextInt(Fate.values().length)];
      var urgency =
          random.nextBoolean()
              ? Map.<String, String>of()
              : Map.of("x-dynamo-request-strict-priority", "" + random.nextInt(3));
      int port = 20_000 + i;
      try {
        var answer = send(fate, random.nextBoolean(), port, urgency);
        answers.add(answer);
        if (fate == Fate.CLIENT_LEAVES) {
          clients.leave(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        }
      } catch (ApiException e) {
        assertThat(e.error().status()).isEqualTo(503);
        assertThat(e.error().retryAfterSeconds()).isPositive();
        refusedAtTheDoor++;
      }
      if (random.nextInt(8) == 0) {
        int most = random.nextInt(20);
        until(() -> frontend.admission.admitted() <= most);
      }
    }
    untilAllEnded();

    assertThat(answers).hasSize(requests - refusedAtTheDoor);
    assertThat(answers).allMatch(answer -> answer.status != 0);
    assertThat(sum(FrontendMetrics.REQUESTS)).isEqualTo(requests);
    assertThat(sum(FrontendMetrics.REQUESTS_STARTED)).isEqualTo(requests);
    var started = new HashMap<List<Label>, Long>();
    numbers.forEach(
        (series, value) -> {
          var labels = new ArrayList<>(series.labels());
          labels.removeIf(it -> it.key().equals("status") || it.key().equals("error_type"));
          if (series.name().equals(FrontendMetrics.REQUESTS.name())) {
            started.merge(labels, (long) value.getAsDouble(), Long::sum);
          } else if (series.name().equals(FrontendMetrics.REQUESTS_STARTED.name())) {
            started.merge(labels, -(long) value.getAsDouble(), Long::sum);
          }
        });
    assertThat(started).allSatisfy((_, difference) -> assertThat(difference).isZero());
    assertThat(sum(FrontendMetrics.REJECTIONS)).isEqualTo(errors("overload"));
    assertThat(sum(FrontendMetrics.CANCELLATIONS)).isEqualTo(errors("cancelled"));
    assertThat(sum(FrontendMetrics.DISCONNECTED_CLIENTS)).isEqualTo(errors("cancelled"));
    assertThat(errors("internal")).isZero();
    for (var level :
        List.of(
            FrontendMetrics.INFLIGHT, FrontendMetrics.QUEUED, FrontendMetrics.ADMISSION_WAITING)) {
      assertThat(sum(level)).as("%s", level).isZero();
    }
    assertThat(frontend.bodies.heldBytes()).isZero();
  }

  /** Takes all places with requests that hang until their deadline. */
  private List<Waited> fill() {
    var hanging = new ArrayList<Waited>();
    for (int i = 0; i < RUNNING; i++) {
      hanging.add(send(Fate.HANG_LATE, true, 30_000 + i, Map.of()));
    }
    until(() -> asked.get() == RUNNING);
    return hanging;
  }

  @Test
  void theDeadlineEndsAStreamWithATypedFrameAndAUnaryCallWith504() {
    frontend = open(Duration.ofSeconds(3), LONG);
    var stream = send(Fate.HANG_LATE, true, 1, Map.of());
    var unary = send(Fate.HANG, false, 2, Map.of());
    untilAllEnded();
    assertThat(stream.status).isEqualTo(200);
    assertThat(stream.text())
        .contains("\"type\":\"timeout_error\",\"code\":504}")
        .endsWith("data: [DONE]\n\n");
    assertThat(unary.status).isEqualTo(504);
    assertThat(errors("response_timeout")).isEqualTo(2);
    assertThat(sum(FrontendMetrics.REQUESTS)).isEqualTo(2);
  }

  @Test
  void aRequestThatWaitsTooLongIs429BeforeAnyCostlyWork() {
    frontend = open(LONG, Duration.ofMillis(5));
    fill();
    frontend.encoded = null;
    var waiting = send(Fate.FINISH, true, 3, Map.of());
    until(() -> errors("overload") == 1);
    assertThat(waiting.status).isEqualTo(429);
    assertThat(waiting.events).isFalse();
    assertThat(waiting.error).hasFieldOrPropertyWithValue("code", "overloaded");
    assertThat(frontend.encoded).as("what was tokenised for it").isNull();
    abort();
  }

  private void abort() {
    frontend.completions.abortAll(
        new EngineFailedException(ErrorCode.BACKEND_ENGINE_SHUTDOWN, "stopping", null));
    untilAllEnded();
  }

  @Test
  void aClientThatLeavesWhileItWaitsLeavesTheQueue() {
    fill();
    var waiting = send(Fate.FINISH, true, 4, Map.of());
    until(() -> sum(FrontendMetrics.ADMISSION_WAITING) == 1);
    clients.leave(new InetSocketAddress(InetAddress.getLoopbackAddress(), 4));
    until(() -> sum(FrontendMetrics.ADMISSION_WAITING) == 0);
    until(() -> errors("cancelled") == 1);
    assertThat(waiting.status).isEqualTo(499);
    assertThat(asked.get()).isEqualTo(RUNNING);
    abort();
  }

  @Test
  void waitingRequestsAreRefusedWhenTheServerStops() {
    var inside = fill();
    var waiting = send(Fate.FINISH, false, 5, Map.of());
    until(() -> sum(FrontendMetrics.ADMISSION_WAITING) == 1);
    abort();
    assertThat(waiting.status).isEqualTo(503);
    assertThat(waiting.error).hasFieldOrPropertyWithValue("retryAfterSeconds", 1);
    assertThat(inside).allMatch(answer -> answer.text().contains("\"code\":503}"));
  }

  @Test
  void whenAllWorkersAreBusyARequestIsRefusedBeforeItIsTokenised() {
    frontend.allBusy = true;
    var answer = send(Fate.FINISH, true, 6, Map.of());
    untilAllEnded();
    assertThat(answer.status).isEqualTo(529);
    assertThat(answer.text()).contains("\"type\":\"Overloaded\",\"code\":529");
    assertThat(answer.error).hasFieldOrPropertyWithValue("retryAfterSeconds", 1);
    assertThat(frontend.encoded).isNull();
    assertThat(sum(FrontendMetrics.REJECTIONS)).isEqualTo(1);
  }
}
