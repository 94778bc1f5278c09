package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.config.plane.NatsSettings.NatsIdentity;
import io.dynamo.testing.TestSettings;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NatsKeysTest {
  private static NatsIdentity identity(Map<String, String> settings) {
    return TestSettings.with(settings).nats().identity();
  }

  @Test
  void theFirstCredentialsInDynamosOrderCount() {
    assertThat(identity(Map.of())).isEqualTo(new NatsIdentity.User("user", "user"));
    assertThat(
            identity(
                Map.of(
                    "dynamo.nats.username", "me",
                    "dynamo.nats.password", "secret",
                    "dynamo.nats.token", "token")))
        .isEqualTo(new NatsIdentity.User("me", "secret"));
    assertThat(identity(Map.of("dynamo.nats.token", "token", "dynamo.nats.nkey", "SU")))
        .isEqualTo(new NatsIdentity.Token("token"));
    assertThat(identity(Map.of("dynamo.nats.nkey", "SU"))).isEqualTo(new NatsIdentity.NKey("SU"));
  }

  @Test
  void serversAreUrlsOfOneCluster() {
    assertThat(
            TestSettings.with(Map.of("dynamo.nats.servers", "a:4222, tls://b:4223"))
                .nats()
                .servers())
        .containsExactly(URI.create("nats://a:4222"), URI.create("tls://b:4223"));
    assertThatThrownBy(() -> TestSettings.with(Map.of("dynamo.nats.servers", "http://a")))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("is not nats://host:port");
  }

  @Test
  void credentialsInAUrlAreRefusedAndNotShown() {
    assertThatThrownBy(
            () -> TestSettings.with(Map.of("dynamo.nats.servers", "nats://me:secret@a:4222")))
        .hasMessageContaining("holds credentials")
        .hasMessageNotContaining("secret");
    assertThatThrownBy(() -> TestSettings.with(Map.of("dynamo.nats.password", "secret")))
        .hasMessageContaining("dynamo.nats.username")
        .hasMessageNotContaining("secret");
  }

  @Test
  void aServerElsewhereIsReachedByTlsOrWithConsent() {
    var clear = Map.of("dynamo.event.plane", "nats", "dynamo.nats.servers", "nats://10.0.0.7:4222");
    assertThatThrownBy(() -> TestSettings.with(clear))
        .hasMessageContaining("dynamo.security.open-planes");
    TestSettings.with(
        Map.of("dynamo.event.plane", "nats", "dynamo.nats.servers", "tls://10.0.0.7:4222"));
    TestSettings.with(
        Map.of(
            "dynamo.event.plane", "nats",
            "dynamo.nats.servers", "nats://10.0.0.7:4222",
            "dynamo.security.open-planes", "true"));
    TestSettings.with(Map.of("dynamo.nats.servers", "nats://10.0.0.7:4222")); // not used
  }
}
