package io.dynamo.runtime.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.pipeline.http.RequestHead;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AdminGuardTest {
  private static final AdminGuard LOCAL = new AdminGuard(false, List.of("Admin.Internal"));
  private static final AdminGuard OPEN = new AdminGuard(true, List.of("admin.internal"));

  private static AdminGuard.@Nullable Objection ask(
      AdminGuard guard, String caller, String host, String... more) {
    var fields = new RequestHead.Fields().add("Host", host);
    for (int i = 0; i < more.length; i += 2) {
      fields.add(more[i], more[i + 1]);
    }
    return guard.objection(InetAddress.ofLiteral(caller), fields.head("GET", "HTTP/1.1"));
  }

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1, localhost",
    "127.0.0.1, LOCALHOST:8000",
    "127.0.0.1, 127.0.0.1:8000",
    "127.0.0.5, localhost",
    "::1, [::1]:8000",
    "::1, [::1]",
    "127.0.0.1, admin.internal:9090"
  })
  void aCommandOnThisMachineIsTaken(String caller, String host) {
    assertThat(ask(LOCAL, caller, host)).isNull();
  }

  @Test
  void anotherMachineDoesNotLearnThatTheRouteExists() {
    var objection = ask(LOCAL, "10.0.0.7", "localhost");
    assertThat(objection).isNotNull().matches(AdminGuard.Objection::hidden);
  }

  /** A page that had its own name point to this machine sends that name. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "attacker.example:8000",
        "localhost.attacker.example",
        "10.0.0.7",
        "127.0.0.1.nip"
      })
  void aNameThatIsNotOursIsRefused(String host) {
    var objection = ask(LOCAL, "127.0.0.1", host);
    assertThat(objection).isNotNull();
    assertThat(String.valueOf(objection)).contains("dynamo.security.admin-names");
  }

  @Test
  void aRequestWithoutOneHostIsRefused() {
    var none = new RequestHead.Fields().add("Accept", "*/*").head("GET", "HTTP/1.1");
    assertThat(LOCAL.objection(InetAddress.getLoopbackAddress(), none)).isNotNull();
    assertThat(ask(LOCAL, "127.0.0.1", "localhost", "Host", "localhost")).isNotNull();
  }

  @ParameterizedTest
  @CsvSource({
    "Origin, http://localhost:8000",
    "Origin, null",
    "Sec-Fetch-Site, cross-site",
    "Sec-Fetch-Site, same-origin"
  })
  void webPagesAreRefusedEverywhere(String name, String value) {
    assertThat(ask(LOCAL, "127.0.0.1", "localhost", name, value)).isNotNull();
    assertThat(ask(OPEN, "10.0.0.7", "10.0.0.1", name, value)).isNotNull();
    assertThat(ask(LOCAL, "127.0.0.1", "localhost", "Sec-Fetch-Site", "none")).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Forwarded",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Real-IP",
        "Via",
        "Client-IP"
      })
  void proxiedRequestsAreNotLocal(String mark) {
    assertThat(ask(LOCAL, "127.0.0.1", "localhost", mark, "x")).isNotNull();
    assertThat(ask(OPEN, "127.0.0.1", "localhost", mark, "x")).isNull();
  }

  @Test
  void theVersionThatProxiesSpeakIsRefused() {
    var old = new RequestHead.Fields().add("Host", "localhost").head("GET", "HTTP/1.0");
    assertThat(LOCAL.objection(InetAddress.getLoopbackAddress(), old)).isNotNull();
    assertThat(OPEN.objection(InetAddress.getLoopbackAddress(), old)).isNull();
  }

  @Test
  void othersMayAskWhereTheyAreLetIn() {
    assertThat(ask(OPEN, "10.0.0.7", "10.0.0.1:9090")).isNull();
    assertThat(ask(OPEN, "10.0.0.7", "[fe80::1]:9090")).isNull();
    assertThat(ask(OPEN, "10.0.0.7", "admin.internal")).isNull();
    assertThat(ask(OPEN, "10.0.0.7", "attacker.example")).isNotNull();
  }

  @ParameterizedTest
  @CsvSource({
    "same-origin, cors, empty",
    "same-origin, no-cors, script",
    "none, navigate, document",
    "cross-site, navigate, document"
  })
  void theConsoleIsAnsweredToItselfAndToLinks(String site, String mode, String destination) {
    assertThat(
            ask(
                AdminGuard.ofPages(false, List.of()),
                "127.0.0.1",
                "127.0.0.1:8000",
                "Sec-Fetch-Site",
                site,
                "Sec-Fetch-Mode",
                mode,
                "Sec-Fetch-Dest",
                destination))
        .isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "cross-site, cors, empty",
    "same-site, cors, empty",
    "cross-site, no-cors, script",
    "cross-site, navigate, iframe"
  })
  void theConsoleIsNotAnsweredToOtherPages(String site, String mode, String destination) {
    assertThat(
            ask(
                AdminGuard.ofPages(true, List.of()),
                "127.0.0.1",
                "127.0.0.1:8000",
                "Sec-Fetch-Site",
                site,
                "Sec-Fetch-Mode",
                mode,
                "Sec-Fetch-Dest",
                destination))
        .isNotNull();
  }

  @Test
  void theConsoleIsNotAnsweredToForeignOriginsNamesAndMachines() {
    var guard = AdminGuard.ofPages(false, List.of());
    assertThat(ask(guard, "127.0.0.1", "localhost:8000", "Origin", "http://localhost:8000"))
        .as("a module of the page itself")
        .isNull();
    assertThat(ask(guard, "127.0.0.1", "localhost:8000", "Origin", "http://localhost:3000"))
        .isNotNull();
    assertThat(ask(guard, "127.0.0.1", "localhost:8000", "Origin", "null")).isNotNull();
    assertThat(ask(guard, "127.0.0.1", "attacker.example:8000", "Sec-Fetch-Site", "same-origin"))
        .isNotNull();
    assertThat(ask(guard, "10.0.0.7", "localhost")).isNotNull();
    assertThat(ask(guard, "127.0.0.1", "localhost", "X-Forwarded-For", "10.0.0.9")).isNotNull();
  }
}
