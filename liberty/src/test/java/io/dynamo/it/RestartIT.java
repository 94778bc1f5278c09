package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The application is restarted inside a server that goes on: five times, by a newer EAR. It answers
 * chats before each restart, so that all it loads lazily (tokenizer, native library, connections)
 * is there to be left behind. Its spans go to a collector that never answers, so that each stop
 * meets an export that hangs.
 */
@Sampled
class RestartIT {
  private static final int RESTARTS = 5;
  private static final Pattern UPDATED = Pattern.compile("CWWKZ0003I");

  @Test
  void restartsLeaveNoPortNoThreadAndNoClassLoaderBehind() throws Exception {
    // What soft references alone hold is not left behind: memory that is wanted takes it.
    var plan = ServerProcess.Plan.named("restart").jvm("-XX:SoftRefLRUPolicyMSPerMB=0");
    try (var collector = new ServerSocket(0, 1000, InetAddress.getLoopbackAddress());
        var server =
            plan.with("OTEL_EXPORT_ENABLED", "true")
                .with("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:" + collector.getLocalPort())
                .start()) {
      server.awaitReady();
      chat(server);
      var before = JvmCensus.of(server.java());
      assertThat(before.applicationLoaders()).as("the census sees the application").isPositive();
      assertThat(before.listeningPorts()).as("the census sees ports").contains(server.port());
      assertThat(before.threads()).as("the census sees threads").containsKey("runtime-timer");
      assertThat(before.threads())
          .as("the census sees the exporter of spans")
          .containsKey("BatchSpanProcessor_WorkerThread-#");

      for (int restart = 1; restart <= RESTARTS; restart++) {
        restart(server, restart);
        chat(server);
      }

      assertNothingMoreThan(before, server);
    }
  }

  private static void chat(ServerProcess server) throws IOException {
    for (boolean stream : new boolean[] {true, false}) {
      var body = ChatClient.body(Cluster.MODEL, "Tell me about restarts", 8, stream);
      try (var client = ChatClient.post(server.port(), body)) {
        var text =
            stream ? client.text() : client.json().at("/choices/0/message/content").asText("");
        assertThat(text).isNotEmpty();
      }
    }
  }

  private static void restart(ServerProcess server, int times) throws Exception {
    Files.setLastModifiedTime(
        server.folder().resolve("apps/dynamo.ear"), FileTime.from(Instant.now()));
    Polling.until(
        "restart " + times,
        Duration.ofMinutes(1),
        () -> UPDATED.matcher(server.messages()).results().count() == times);
    server.awaitReady();
  }

  /**
   * Checks that nothing is left of a restart; late ends have three minutes: an export that hangs
   * ends after some tries, and the threads of its client a minute after that. The server keeps the
   * last request of each of its threads until the thread's next one, so there are next ones.
   */
  private static void assertNothingMoreThan(JvmCensus before, ServerProcess server) {
    Polling.untilAsserted(
        Duration.ofMinutes(3),
        () -> {
          chat(server);
          var after = JvmCensus.of(server.java());
          assertThat(after.applicationLoaders())
              .as("class loaders")
              .isLessThanOrEqualTo(before.applicationLoaders());
          assertThat(after.moreThreadsThan(before)).as("threads").isEmpty();
          // ports that the system chooses differ from start to start, their number does not
          assertThat(after.listeningPorts()).hasSameSizeAs(before.listeningPorts());
        });
  }
}
