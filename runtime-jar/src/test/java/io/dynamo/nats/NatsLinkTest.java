package io.dynamo.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.testing.Certificates;
import io.dynamo.testing.ManualAlarms;
import io.dynamo.testing.ManualClock;
import io.dynamo.testing.NatsServer;
import io.dynamo.testing.TestSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections to real servers that demand credentials and TLS. */
class NatsLinkTest {
  private static final String SEED = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
  private static final String PUBLIC = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";

  private static NatsLink open(String servers, Map<String, String> settings) {
    var all =
        new HashMap<>(Map.of("dynamo.nats.servers", servers, "dynamo.nats.start-timeout", "1s"));
    all.putAll(settings);
    return NatsLink.open(TestSettings.with(all).nats(), new ManualAlarms(ManualClock.now()));
  }

  private static void connects(String servers, Map<String, String> settings) {
    try (var link = open(servers, settings)) {
      assertThat(link.isUp()).isTrue();
      assertThat(link.flush()).isTrue();
    }
  }

  private static void isRefused(String servers, Map<String, String> settings, String... words) {
    assertThatThrownBy(() -> open(servers, settings).close())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll(words);
  }

  @Test
  void aUserIsUserWithThePasswordUserUnlessSaid() {
    try (var server =
        NatsServer.start(
            "authorization { users = [{user: user, password: user}, {user: me, password:"
                + " secret}] }")) {
      connects(server.url(), Map.of());
      connects(
          server.url(), Map.of("dynamo.nats.username", "me", "dynamo.nats.password", "secret"));
      isRefused(
          server.url(),
          Map.of("dynamo.nats.username", "me", "dynamo.nats.password", "wrong"),
          "refuses the credentials");
    }
  }

  @Test
  void aTokenIsPresented() {
    try (var server = NatsServer.start("authorization { token: secret }")) {
      connects(server.url(), Map.of("dynamo.nats.token", "secret"));
      isRefused(server.url(), Map.of("dynamo.nats.token", "wrong"), "refuses the credentials");
    }
  }

  @Test
  void anNKeySignsTheChallenge() {
    try (var server = NatsServer.start("authorization { users = [{nkey: " + PUBLIC + "}] }")) {
      connects(server.url(), Map.of("dynamo.nats.nkey", SEED));
      isRefused(server.url(), Map.of(), "refuses the credentials");
    }
    assertThat(NKeyIdentity.ofSeed(SEED).getID()).containsExactly(PUBLIC.toCharArray());
    assertThatThrownBy(() -> NKeyIdentity.ofSeed(PUBLIC)).hasMessageContaining("begins with SU");
    assertThatThrownBy(() -> NKeyIdentity.ofSeed(SEED.replace("CU3VY", "CU3VA")))
        .hasMessageContaining("begins with SU")
        .hasMessageNotContaining(SEED);
  }

  @Test
  void aCredentialsFileHoldsJwtAndSeed(@TempDir Path folder) throws Exception {
    var file = folder.resolve("user.creds");
    Files.writeString(
        file,
        """
        -----BEGIN NATS USER JWT-----
        eyJ0.eyJq-_.abc
        ------END NATS USER JWT------

        ************************* IMPORTANT *************************

        -----BEGIN USER NKEY SEED-----
        %s
        ------END USER NKEY SEED------
        """
            .formatted(SEED));

    var identity = NKeyIdentity.ofFile(file);

    assertThat(identity.getJWT()).containsExactly("eyJ0.eyJq-_.abc".toCharArray());
    assertThat(identity.sign(new byte[] {1}))
        .isEqualTo(NKeyIdentity.ofSeed(SEED).sign(new byte[] {1}));
    Files.writeString(file, "nothing");
    assertThatThrownBy(() -> NKeyIdentity.ofFile(file)).hasMessageContaining("does not hold");
  }

  @Test
  void tlsChecksAuthorityAndNameAndPresentsACertificate(@TempDir Path folder) throws Exception {
    var ours = new Certificates(folder, "ours");
    ours.sign("server", "ip:127.0.0.1");
    ours.sign("misnamed", "dns:elsewhere.test");
    ours.sign("client", "dns:client.test");
    var other = new Certificates(folder, "other");
    var authorities = Map.of("dynamo.nats.tls.authorities", ours.authorityFile().toString());
    try (var server = NatsServer.start(tls(ours, "server", ""))) {
      connects(server.url(), authorities);
      connects(server.url().replace("nats://", "tls://"), authorities);
      connects(server.url(), Map.of("dynamo.nats.tls.insecure", "true"));
      isRefused(
          server.url(),
          Map.of("dynamo.nats.tls.authorities", other.authorityFile().toString()),
          "no NATS server");
      isRefused(server.url().replace("nats://", "tls://"), Map.of(), "no NATS server");
    }
    try (var server = NatsServer.start(tls(ours, "misnamed", ""))) {
      isRefused(server.url(), authorities, "no NATS server");
      connects(server.url(), Map.of("dynamo.nats.tls.insecure", "true"));
    }
    try (var server =
        NatsServer.start(
            tls(ours, "server", "ca_file: \"" + ours.authorityFile() + "\", verify: true"))) {
      isRefused(server.url(), authorities, "NATS server");
      var mutual = new HashMap<>(authorities);
      mutual.put("dynamo.nats.tls.client-certificate", ours.certificateFile("client").toString());
      mutual.put("dynamo.nats.tls.client-key", ours.keyFile("client").toString());
      connects(server.url(), mutual);
    }
  }

  private static String tls(Certificates certificates, String name, String more) {
    return "tls { cert_file: \"%s\", key_file: \"%s\", %s }"
        .formatted(certificates.certificateFile(name), certificates.keyFile(name), more);
  }

  @Test
  void aServerThatIsNotThereEndsTheStartInTime() {
    isRefused("nats://127.0.0.1:1", Map.of(), "no NATS server", "127.0.0.1:1", "start-timeout");
  }
}
