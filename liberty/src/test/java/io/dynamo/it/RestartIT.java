package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The application is restarted inside a server that goes on: five times, by a newer EAR. */
@Tag("pending")
class RestartIT {
  private static final int RESTARTS = 5;
  private static final Pattern UPDATED = Pattern.compile("CWWKZ0003I");

  @Test
  void restartsLeaveNoPortNoThreadAndNoClassLoaderBehind() throws Exception {
    try (var server = ServerProcess.Plan.named("restart").start()) {
      server.awaitReady();
      var before = JvmCensus.of(server.java());
      assertThat(before.applicationLoaders()).as("the census sees the application").isPositive();
      assertThat(before.listeningPorts()).as("the census sees ports").contains(server.port());

      for (int restart = 1; restart <= RESTARTS; restart++) {
        restart(server, restart);
      }

      Polling.until(
          "the census is what it was, " + before,
          Duration.ofSeconds(30),
          () -> {
            var after = JvmCensus.of(server.java());
            // ports that the system chooses differ from start to start, their number does not
            return after.applicationLoaders() <= before.applicationLoaders()
                && after.threads().size() <= before.threads().size()
                && after.listeningPorts().size() == before.listeningPorts().size();
          });
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
}
