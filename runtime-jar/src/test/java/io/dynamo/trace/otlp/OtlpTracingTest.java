package io.dynamo.trace.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.event.Until;
import io.dynamo.testing.TestSettings;
import io.dynamo.trace.Tracing;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.logging.LogManager;
import org.junit.jupiter.api.Test;

class OtlpTracingTest {
  private static Tracing tracing(int port, String timeout) {
    return new OtlpTracing(
        TestSettings.with(
                Map.of(
                    "dynamo.trace.export",
                    "true",
                    "dynamo.trace.timeout",
                    timeout,
                    "dynamo.trace.endpoint",
                    "http://127.0.0.1:" + port + "/v1/traces"))
            .watch()
            .trace());
  }

  private static void trace(Tracing tracing) {
    var span = tracing.start("request", null);
    tracing.start("stage", span.context()).put("key", "value").end();
    span.fail("timeout");
    span.end();
  }

  private static boolean noThreadOfTheExporterIsLeft() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .noneMatch(name -> name.startsWith("BatchSpanProcessor"));
  }

  /** A class that asks for its logger before {@link OtlpLogs} would stay after a restart. */
  @Test
  void everyLoggerOnTheWayOfASpanIsKnown() throws Exception {
    int nobody;
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      nobody = taken.getLocalPort();
    }
    try (var tracing = tracing(nobody, "1s")) {
      trace(tracing);
    }

    assertThat(Collections.list(LogManager.getLogManager().getLoggerNames()))
        .filteredOn(name -> name.startsWith("io.opentelemetry."))
        .isNotEmpty()
        .isSubsetOf(OtlpLogs.NAMES);
  }

  @Test
  void aCollectorThatNeverAnswersHoldsUpNeitherSpansNorTheEnd() throws Exception {
    try (var silent = new ServerSocket(0, 100, InetAddress.getLoopbackAddress())) {
      var tracing = tracing(silent.getLocalPort(), "5m");
      for (int i = 0; i < 10_000; i++) { // more than the queue has room for
        trace(tracing);
      }
      long closing = System.nanoTime();
      tracing.close();

      assertThat(Duration.ofNanos(System.nanoTime() - closing)).isLessThan(Duration.ofSeconds(20));
      Until.holds(OtlpTracingTest::noThreadOfTheExporterIsLeft);
    }
  }

  @Test
  void closedTracingRecordsNothing() throws Exception {
    try (var silent = new ServerSocket(0, 100, InetAddress.getLoopbackAddress())) {
      var tracing = tracing(silent.getLocalPort(), "1s");
      tracing.close();
      tracing.close();

      assertThat(tracing.start("request", null).context()).isNull();
    }
  }
}
