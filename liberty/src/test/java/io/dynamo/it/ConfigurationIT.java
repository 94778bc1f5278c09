package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A server whose settings are wrong ends before it opens its port, and says what to change. */
@Execution(ExecutionMode.CONCURRENT)
class ConfigurationIT {
  /** {@code EX_CONFIG} of sysexits.h. */
  private static final int REFUSED = 78;

  private static final String PORT_OPENED = "CWWKO0219I";

  /** Two faults of each place that settings stand in, and what each place is called. */
  @Test
  void everyBadSettingIsNamedAtOnceAsItWasTyped() throws Exception {
    var plan =
        ServerProcess.Plan.named("settings-bad")
            .with("DYNAMO_WORKER_RANKS", "0")
            .with("DYN_TLS_CERT_PATH", "/tls/certificate.pem")
            .with("DYN_REQUEST_PLANE_CODEC", "xml")
            .with("DYN_HTTP_HOST", "0.0.0.0")
            .with("DYNAMO_WORKER_RANK", "1")
            .properties("dynamo.frontend.heartbeat=never\ndynamo.http.prot=1\n")
            .jvm("-Ddynamo.event.plan=local", "-Ddynamo.event.plane=carrier-pigeon");
    try (var server = plan.start()) {
      server.awaitExit();

      assertRefused(server);
      assertThat(server.console())
          .contains(
              "9 bad settings",
              "dynamo.worker.ranks = \"0\" (from the variable DYNAMO_WORKER_RANKS)",
              "dynamo.http.tls.certificate = \"/tls/certificate.pem\" has no effect without"
                  + " dynamo.http.tls.key",
              "dynamo.http.tls.certificate is set by the variable DYN_TLS_CERT_PATH",
              "dynamo.request.codec = \"xml\" (from the variable DYN_REQUEST_PLANE_CODEC)",
              "dynamo.http.host = \"0.0.0.0\" is reachable from other machines",
              "dynamo.security.insecure=true",
              "dynamo.http.host is set by the variable DYN_HTTP_HOST",
              "the variable DYNAMO_WORKER_RANK is no setting; perhaps DYNAMO_WORKER_RANKS is meant",
              "dynamo.event.plane = \"carrier-pigeon\" (from the system properties)",
              "dynamo.event.plan (in the system properties) is no setting")
          .containsPattern(
              "dynamo.frontend.heartbeat = \"never\" \\(from .*microprofile-config.properties\\)")
          .containsPattern(
              "dynamo.http.prot \\(in .*microprofile-config.properties\\) is no setting; perhaps"
                  + " dynamo.http.port")
          .containsOnlyOnce("The server does not start:");
    }
  }

  @Test
  void aPortThatAnotherProcessHasEndsTheServerWithAMessage() throws Exception {
    try (var other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var server =
            ServerProcess.Plan.named("settings-taken")
                .with("DYN_HTTP_PORT", Integer.toString(other.getLocalPort()))
                .start()) {
      server.awaitExit();

      assertRefused(server);
      assertThat(server.console())
          .contains(
              "dynamo.http.port = \"" + other.getLocalPort() + "\" cannot be opened",
              "dynamo.http.port is set by the variable DYN_HTTP_PORT");
    }
  }

  /** A fault that is found only when a role starts, here by the worker. */
  @Test
  void aRoleThatCannotStartEndsTheServer() throws Exception {
    try (var server =
        ServerProcess.Plan.named("settings-role")
            .with("DYN_MODEL_PATH", "/no/such/model")
            .start()) {
      server.awaitExit();

      assertThat(server.exitStatus()).isEqualTo(1);
      assertThat(server.console()).contains("The server does not start:", "/no/such/model");
      assertThat(server.messages()).doesNotContain(PORT_OPENED);
    }
  }

  /** The operator's file says where the port is, and that an open address is meant. */
  @Test
  void openAddressWithConsentIsServed() throws Exception {
    int port = ServerProcess.freePort();
    var plan =
        ServerProcess.Plan.named("settings-consent")
            .properties(
                "dynamo.http.port=%d\ndynamo.http.host=0.0.0.0\ndynamo.security.insecure=true\n"
                    .formatted(port))
            .at(port);
    try (var server = plan.start()) {
      server.awaitReady();

      assertThat(server.get("/v1/models").body()).contains(Cluster.MODEL);
      Polling.until(
          "the first lines name the address",
          Duration.ofSeconds(30),
          () -> server.console().contains(" at http://0.0.0.0:" + port));
      assertThat(opened(server)).contains("port " + port);
    }
  }

  private static String opened(ServerProcess server) {
    return server.messages().lines().filter(line -> line.contains(PORT_OPENED)).toList().toString();
  }

  private static void assertRefused(ServerProcess server) throws IOException {
    assertThat(server.exitStatus()).isEqualTo(REFUSED);
    assertThat(server.console()).contains("The process ends with status " + REFUSED);
    assertThat(server.messages())
        .contains("The server does not start:")
        .doesNotContain(PORT_OPENED);
    assertThat(Files.exists(server.folder().resolve("http-port"))).isFalse();
  }
}
