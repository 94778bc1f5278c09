package io.dynamo.frontend.warmup;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WarmUpTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicInteger requests = new AtomicInteger();
  private final Set<String> secrets = ConcurrentHashMap.newKeySet();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final CountDownLatch hanging = new CountDownLatch(1);
  private final CountDownLatch hangs = new CountDownLatch(1);
  private volatile IntUnaryOperator status = _ -> 200; // of each request, by number
  private volatile int hangsAt = Integer.MAX_VALUE;
  private HttpServer server;

  @BeforeEach
  void serve() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            int number = requests.getAndIncrement();
            secrets.add(exchange.getRequestHeaders().getFirst("x-secret"));
            exchange.getRequestBody().readAllBytes();
            if (number >= hangsAt) {
              hanging.countDown();
              hangs.await();
            }
            exchange.sendResponseHeaders(status.applyAsInt(number), 0); // chunked
            exchange.getResponseBody().write("data: {}\n\n".getBytes(StandardCharsets.US_ASCII));
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    server.start();
  }

  @AfterEach
  void close() {
    hangs.countDown();
    server.stop(0);
    threads.shutdownNow();
  }

  private WarmUp warmUp(Duration limit) {
    return new WarmUp(
        limit,
        server.getAddress(),
        () ->
            new WarmUp.Stage() {
              @Override
              public String header() {
                return "x-secret: 17";
              }

              @Override
              public void close() {
                closed.countDown();
              }
            });
  }

  private void awaitClosed() throws InterruptedException {
    assertThat(closed.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void isOverWhenItsRequestsAreAnsweredAndClosesItsStage() throws Exception {
    var warmUp = warmUp(Duration.ofMinutes(1));
    assertThat(warmUp.isOver()).isFalse();

    warmUp.start(threads);
    awaitClosed();

    assertThat(warmUp.isOver()).isTrue();
    assertThat(requests.get()).as("a few hundred").isBetween(200, 2000);
    assertThat(secrets).containsExactly("17");
  }

  @Test
  void asksAgainUntilTheApplicationAnswers() throws Exception {
    status = number -> number < 3 ? 404 : 200;
    var warmUp = warmUp(Duration.ofMinutes(1));

    warmUp.start(threads);
    awaitClosed();

    assertThat(warmUp.isOver()).isTrue();
    assertThat(requests.get()).isGreaterThan(200);
  }

  @Test
  void endsWhenItsTimeIsOverThoughAnAnswerHangs() throws Exception {
    hangsAt = 5;
    var warmUp = warmUp(Duration.ofMillis(200));

    warmUp.start(threads);
    awaitClosed();

    assertThat(warmUp.isOver()).isTrue();
  }

  @Test
  void endsWhenItIsStopped() throws Exception {
    hangsAt = 5;
    var warmUp = warmUp(Duration.ofMinutes(1));

    warmUp.start(threads);
    assertThat(hanging.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    warmUp.stop();
    awaitClosed();

    assertThat(warmUp.isOver()).isTrue();
  }

  @Test
  void endsWhenARequestFails() throws Exception {
    status = number -> number == 20 ? 500 : 200;
    var warmUp = warmUp(Duration.ofMinutes(1));

    warmUp.start(threads);
    awaitClosed();

    assertThat(warmUp.isOver()).isTrue();
  }

  @Test
  void isOverAtOnceWithoutTime() {
    var warmUp =
        new WarmUp(
            Duration.ZERO,
            server.getAddress(),
            () -> {
              throw new AssertionError("a stage was opened");
            });

    warmUp.start(Runnable::run);

    assertThat(warmUp.isOver()).isTrue();
    assertThat(requests.get()).isZero();
  }

  @Test
  void isOverWhenItsStageDoesNotOpen() {
    var warmUp =
        new WarmUp(
            PATIENCE,
            server.getAddress(),
            () -> {
              throw new IllegalStateException("no port is free");
            });

    warmUp.start(Runnable::run);

    assertThat(warmUp.isOver()).isTrue();
    assertThat(requests.get()).isZero();
  }
}
