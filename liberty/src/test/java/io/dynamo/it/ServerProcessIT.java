package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;

/** The packaged product on a server process of its own, and what is in the package. */
class ServerProcessIT {
  @Test
  void packagedServerComesUpQuietlyAndEndsOnSigterm() {
    try (var server = ServerProcess.Plan.named("quiet").fresh().start()) {
      server.awaitReady();

      Polling.until( // the application is ready a moment before its server says so
          "the server has started",
          Duration.ofSeconds(30),
          () -> server.console().contains("CWWKF0011I"));
      assertThat(server.console()).doesNotContain("FFDC", "[ERROR");

      server.terminate();
      server.awaitExit();
      assertThat(server.isAlive()).isFalse();
    }
  }

  @Test
  void killedServerIsGoneAtOnce() {
    try (var server = ServerProcess.Plan.named("killed").start()) {
      Polling.until( // Java runs; it need not serve yet
          "the server is launched",
          Duration.ofMinutes(3),
          () -> server.console().contains("CWWKE0001I"));
      var java = server.java();

      server.kill();

      assertThat(java.isAlive()).isFalse();
    }
  }

  @Test
  void packageHoldsConfigurationButNothingThatAServerWroteForItself() throws Exception {
    try (var zip = new ZipFile(System.getProperty("dynamo.it.package"))) {
      var names = zip.stream().map(entry -> entry.getName()).toList();

      assertThat(names)
          .anyMatch(name -> name.endsWith("servers/dynamo/server.xml"))
          .anyMatch(name -> name.endsWith("servers/dynamo/roles/worker.xml"))
          .noneMatch(name -> name.endsWith("server.env"))
          .noneMatch(name -> name.contains("resources/security"))
          .noneMatch(name -> name.contains("tranlog/"))
          .noneMatch(name -> name.contains("workarea/"))
          .noneMatch(name -> name.contains("liberty-plugin-variable-config"));
    }
  }
}
