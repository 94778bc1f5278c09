package io.dynamo.frontend.openai;

import static io.dynamo.frontend.openai.Samples.hi;
import static io.dynamo.frontend.openai.Samples.said;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.frontend.openai.FrontendFixture.Recorded;
import io.dynamo.frontend.sse.FakeHangUps;
import io.dynamo.inference.FinishReason;
import io.dynamo.metrics.Label;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Clients that leave before and after their answer is complete. */
class LeavingClientTest {
  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  private long counted(String type, String status, String errorType) {
    return frontend
        .metrics
        .counter(
            FrontendMetrics.REQUESTS,
            new Label("model", "script"),
            new Label("endpoint", "chat_completions"),
            new Label("request_type", type),
            new Label("status", status),
            new Label("error_type", errorType))
        .value();
  }

  @Test
  void aClientThatLeavesCancelsTheWorkerAndIsCounted() {
    frontend.items = List.of(said("Hi"));
    frontend.endless = true;
    var answer = new Recorded();
    answer.wire =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    frontend.post(hi(",\"stream\":true").getBytes(StandardCharsets.UTF_8), Map.of(), answer);
    assertThat(frontend.workerCancelled).isTrue();
    assertThat(frontend.metrics.level(FrontendMetrics.DISCONNECTED_CLIENTS).value()).isEqualTo(1);
    assertThat(counted("stream", "error", "cancelled")).isEqualTo(1);
  }

  @Test
  void aWorkerThatFinishedIsLeftToItsEndAndNotKilled() {
    for (var more : List.of("", ",\"stream\":true")) {
      var items = new ArrayList<>(List.of(said("a"), said("b", FinishReason.EOS, 1)));
      for (int i = 0; i < 200; i++) {
        items.add(said("late"));
      }
      frontend.items = items;
      frontend.endless = true; // the end mark is still on its way when the answer is done
      assertThat(frontend.post(hi(more)).status).isEqualTo(200);
      assertThat(frontend.workerCancelled).isFalse();
      assertThat(frontend.cancellation().isCancelled()).isFalse();
      assertThat(frontend.delivered).as("items that demand held back").isEqualTo(items.size());
    }
  }

  @Test
  void aClientThatLeavesAfterTheWorkersFinishCancelsNoRequest() {
    frontend.items = List.of(said("Hi", FinishReason.EOS, 1));
    frontend.endless = true;
    var answer = new Recorded();
    answer.wire =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    frontend.post(hi(",\"stream\":true").getBytes(StandardCharsets.UTF_8), Map.of(), answer);
    assertThat(frontend.workerCancelled).isFalse();
    assertThat(counted("stream", "error", "cancelled")).isEqualTo(1);
  }

  @Test
  void anAnswerThatTheConnectionDoesNotTakeIsNoSuccess() {
    frontend.items = List.of(said("a", FinishReason.EOS, 1));
    var answer =
        new Recorded() {
          @Override
          public void json(byte[] json) {
            super.json(json);
            throw new UncheckedIOException(new IOException("closed"));
          }
        };
    frontend.post(hi("").getBytes(StandardCharsets.UTF_8), Map.of(), answer);
    assertThat(counted("unary", "success", "")).isZero();
    assertThat(counted("unary", "error", "cancelled")).isEqualTo(1);
  }

  @Test
  void aClientThatClosesRightAfterTheLastFrameGotItsAnswer() throws Exception {
    var noticed = new CountDownLatch(1);
    var clients =
        new FakeHangUps() {
          @Override
          public void await(Duration atMost, LongConsumer left) {
            super.await(
                atMost,
                id -> {
                  left.accept(id);
                  noticed.countDown();
                });
          }
        };
    try (var watcher = clients.watcher();
        var watched = new FrontendFixture(Duration.ofSeconds(30), watcher)) {
      watched.items = List.of(said("a", FinishReason.EOS, 1));
      watched.endless = true;
      var answer = new Recorded();
      answer.afterBody =
          () -> {
            try {
              clients.awaitWatched(FrontendFixture.CLIENT);
              clients.leave(FrontendFixture.CLIENT);
              assertThat(noticed.await(10, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
          };
      watched.post(hi(",\"stream\":true").getBytes(StandardCharsets.UTF_8), Map.of(), answer);
      assertThat(watched.cancellation().isCancelled()).isFalse();
      assertThat(watched.metrics.level(FrontendMetrics.DISCONNECTED_CLIENTS).value()).isZero();
    }
  }
}
