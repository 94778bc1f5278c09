package io.dynamo.config.plane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.testing.TestSettings;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EtcdSettingsTest {
  private static final String PREFIX = "dynamo.discovery.etcd.";

  private static EtcdSettings with(Map<String, String> values) {
    return TestSettings.with(values).discovery().etcd();
  }

  @Test
  void severalEndpointsAreReadWithAndWithoutScheme() {
    var settings = with(Map.of(PREFIX + "endpoints", "http://a:2379, b:2380,"));

    assertThat(settings.endpoints())
        .containsExactly(URI.create("http://a:2379"), URI.create("http://b:2380"));
    assertThat(settings.isTls()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "endpoints | http://a:1,https://b:1 | mixes http and https",
        "endpoints | , | names none",
        "endpoints | ftp://a:1 | is not an http or https URL",
        "user | alice | has no effect without dynamo.discovery.etcd.password",
        "tls.authorities | /etc/ca.pem | is not TLS",
        "tls.certificate | /etc/c.pem | has no effect without dynamo.discovery.etcd.tls.key"
      })
  void conflictingSettingsAreRefused(String key, String value, String why) {
    assertThatThrownBy(() -> with(Map.of(PREFIX + key, value)))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(PREFIX + key)
        .hasMessageContaining(why);
  }

  @Test
  void certificatesAreFilesOrTextAndNoKeyIsShown() throws Exception {
    var settings =
        with(
            Map.of(
                PREFIX + "endpoints", "https://a:2379",
                PREFIX + "tls.certificate", "/etc/c.pem",
                PREFIX + "tls.key", "-----BEGIN PRIVATE KEY-----\nsecret",
                PREFIX + "user", "alice",
                PREFIX + "password", "secret"));

    assertThat(Objects.requireNonNull(settings.certificate()).file())
        .isEqualTo(Path.of("/etc/c.pem"));
    assertThat(
            new String(Objects.requireNonNull(settings.key()).bytes(), StandardCharsets.US_ASCII))
        .isEqualTo("-----BEGIN PRIVATE KEY-----\nsecret");
    assertThat(settings.toString()).contains("alice").doesNotContain("secret");
  }
}
