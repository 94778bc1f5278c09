package io.dynamo.frontend.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.watch.ConsoleLog;
import io.dynamo.config.watch.ConsoleLogSettings;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.record.RequestRecords;
import io.dynamo.inference.Usage;
import io.dynamo.json.Json;
import io.dynamo.metrics.Metrics;
import io.dynamo.trace.Tracing;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RequestLogTest {
  private static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private final Logger logger = Logger.getLogger(RequestLog.LOGGER); // kept: the manager forgets
  private final List<String> lines = new ArrayList<>();
  private final Handler handler =
      new Handler() {
        private final SimpleFormatter formatter = new SimpleFormatter();

        @Override
        public void publish(LogRecord line) {
          lines.add(formatter.formatMessage(line));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeEach
  void listen() {
    logger.setLevel(Level.INFO);
    logger.addHandler(handler);
  }

  @AfterEach
  void stop() {
    logger.removeHandler(handler);
    logger.setLevel(null);
  }

  private static RequestWatch watch(boolean logs, Map<String, String> headers) {
    var stages = new Stages(new Metrics(), Tracing.OFF);
    return new RequestWatch.WatchFactory(stages, logs).open("chat_completions", headers);
  }

  @Test
  void aFinishedRequestIsOneLineOfKeysAndValues() {
    var watch = watch(true, Map.of("traceparent", PARENT));
    watch.start("9776aa5a-8c43-4e7c-a4a3-94f1f5404761");
    watch.setModel("tiny", true);
    watch.recordFirstToken();
    watch.recordUsage(new Usage(7, 3, 4), new RequestWatch.ServingWorker("1f", 2, 1));
    watch.end(null);

    assertThat(lines)
        .singleElement()
        .asString()
        .matches(
            "request_id=9776aa5a-8c43-4e7c-a4a3-94f1f5404761 endpoint=chat_completions model=tiny"
                + " status=200 stream=true input_tokens=7 output_tokens=3 cached_tokens=4"
                + " ttft_ms=\\d+\\.\\d{3} total_ms=\\d+\\.\\d{3} worker=1f rank=2 migrations=1"
                + " trace_id=0af7651916cd43dd8448eb211c80319c");
  }

  @Test
  void nothingThatAClientChoosesCanLookLikeAnotherKeyOrLine() {
    var watch = watch(true, Map.of("x-request-id", "a\nstatus=200 model=\"x\" {0} \u2028\\"));
    watch.start("id");
    watch.setModel("two words=1", false);
    watch.end(ApiError.of(400, "no"));

    assertThat(lines).hasSize(1);
    assertThat(lines.getFirst())
        .contains("x_request_id=\"a\\u000astatus=200 model=\\\"x\\\" {0} \\u2028\\\\\" endpoint=")
        .contains("model=\"two words=1\" status=400 error_type=validation stream=false")
        .doesNotContain("\n")
        .doesNotContain("trace_id");
  }

  private static List<String> printed(ConsoleLog format, int leastStatus, ApiError... outcomes) {
    var console = new ByteArrayOutputStream();
    try (var lines =
        RequestConsole.of(
            new ConsoleLogSettings(format, leastStatus),
            console,
            () -> Instant.parse("2026-01-02T03:04:05.678901Z"))) {
      var stages = new Stages(new Metrics(), Tracing.OFF);
      var factory =
          new RequestWatch.WatchFactory(
              stages, false, lines, new RecentFailures(), RequestRecords.OFF);
      for (var outcome : outcomes) {
        var watch =
            factory.open("completions", Map.of("traceparent", PARENT, "x-request-id", "\"\n"));
        watch.start("id");
        watch.setModel("tiny", true);
        watch.end(outcome.status() == 200 ? null : outcome);
      }
    }
    return console.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void theConsoleHasALineOfTextWithTimeAndLevel() {
    assertThat(printed(ConsoleLog.TEXT, 0, ApiError.of(200, ""), ApiError.of(503, "busy")))
        .satisfiesExactly(
            line ->
                assertThat(line)
                    .startsWith("2026-01-02T03:04:05.678Z INFO request request_id=id ")
                    .endsWith(" trace_id=0af7651916cd43dd8448eb211c80319c"),
            line -> assertThat(line).contains(" ERROR request ", " status=503 "));
    assertThat(lines).as("the log is off").isEmpty();
  }

  @Test
  void theConsoleHasALineOfJsonWhateverAClientSends() {
    var line = printed(ConsoleLog.JSON, 0, ApiError.of(400, "no")).getFirst();

    var members = Json.readObject(line.getBytes(StandardCharsets.UTF_8)).members();
    assertThat(members)
        .containsEntry("time", "2026-01-02T03:04:05.678Z")
        .containsEntry("level", "WARN")
        .containsEntry("x_request_id", "\"\n")
        .containsEntry("status", 400)
        .containsEntry("trace_id", "0af7651916cd43dd8448eb211c80319c");
  }

  @Test
  void onlyRequestsFromTheLevelOnAreOnTheConsole() {
    assertThat(
            printed(
                ConsoleLog.TEXT,
                500,
                ApiError.of(200, ""),
                ApiError.of(404, ""),
                ApiError.of(500, "")))
        .singleElement()
        .asString()
        .contains("status=500");
  }

  @Test
  void aConsoleThatNobodyReadsHoldsNobodyUp() throws Exception {
    var stuck = new CountDownLatch(1);
    var reading = new CountDownLatch(1);
    var written = new ByteArrayOutputStream();
    var pipe =
        new OutputStream() {
          @Override
          public void write(int octet) {
            written.write(octet);
          }

          @Override
          public void write(byte[] bytes, int from, int length) throws IOException {
            stuck.countDown();
            try {
              reading.await();
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
            written.write(bytes, from, length);
          }
        };
    try (var console = new ConsoleLines(pipe, 2)) {
      console.write("line 0");
      assertThat(stuck.await(10, TimeUnit.SECONDS)).isTrue();
      for (int i = 1; i < 100; i++) {
        console.write("line " + i); // returns at once
      }
      reading.countDown();
    }
    assertThat(written.toString(StandardCharsets.UTF_8))
        .startsWith("line 0\nline 1\nline 2\n97 lines of requests were dropped");
  }

  @Test
  void aLongValueIsCut() {
    var watch = watch(true, Map.of("x-request-id", "y".repeat(10_000)));
    watch.start("id");
    watch.end(null);
    assertThat(lines.getFirst()).hasSizeLessThan(512);
  }

  @Test
  void noLineIsLoggedWhenTheRequestLogIsOff() {
    var watch = watch(false, Map.of());
    watch.start("id");
    watch.end(null);
    assertThat(lines).isEmpty();
  }
}
