package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A server whose settings are wrong does not serve, and says what to change. */
@Execution(ExecutionMode.CONCURRENT)
class ConfigurationIT {
  private static final Duration START = Duration.ofMinutes(2);
  private static final String APPLICATION_FAILED = "CWWKZ0002E";

  @Test
  void everyBadSettingIsNamedAtOnce() throws Exception {
    var plan =
        ServerProcess.Plan.named("settings-bad")
            .with("DYNAMO_WORKER_RANKS", "0")
            .with("DYNAMO_FRONTEND_HEARTBEAT", "never")
            .with("DYN_TLS_CERT_PATH", "/tls/certificate.pem")
            .with("DYN_REQUEST_PLANE_CODEC", "xml")
            .with("DYN_DISCOVERY_BACKEND", "carrier-pigeon");
    try (var server = plan.start()) {
      awaitRefusal(server);

      assertThat(server.messages())
          .contains(
              "dynamo.worker.ranks",
              "dynamo.frontend.heartbeat",
              "dynamo.http.tls.certificate = \"/tls/certificate.pem\" has no effect without dynamo.http.tls.key",
              "dynamo.request.codec",
              "dynamo.discovery.backend");
      assertServesNothing(server);
    }
  }

  @Test
  void openAddressWithoutConsentIsRefused() throws Exception {
    try (var server =
        ServerProcess.Plan.named("settings-open").with("DYN_HTTP_HOST", "0.0.0.0").start()) {
      awaitRefusal(server);

      assertThat(server.messages()).contains("dynamo.http.host", "dynamo.security.insecure");
      assertServesNothing(server);
    }
  }

  @Test
  void openAddressWithConsentIsServed() throws Exception {
    var plan =
        ServerProcess.Plan.named("settings-consent")
            .with("DYN_HTTP_HOST", "0.0.0.0")
            .with("DYNAMO_SECURITY_INSECURE", "true");
    try (var server = plan.start()) {
      server.awaitReady();

      assertThat(server.get("/v1/models").body()).contains(Cluster.MODEL);
    }
  }

  /** Its port opens, the server's own health pages answer, the application does not. */
  private static void assertServesNothing(ServerProcess server) throws Exception {
    Polling.until(
        "the server answers", START, () -> server.get("/health/ready").statusCode() == 503);
    assertThat(server.get("/v1/models").statusCode()).isIn(404, 503);
  }

  private static void awaitRefusal(ServerProcess server) {
    Polling.until(
        "the application is refused", START, () -> server.messages().contains(APPLICATION_FAILED));
  }
}
