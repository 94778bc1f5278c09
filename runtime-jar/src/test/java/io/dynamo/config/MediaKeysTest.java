package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.config.frontend.MediaSettings.Fetching;
import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.testing.TestSettings;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MediaKeysTest {
  @Test
  void nothingIsFetchedFromInsideAndNothingIsKeptByItself() {
    var media = TestSettings.defaults().frontend().media();

    assertThat(media.fetching()).isEqualTo(Fetching.CARD);
    assertThat(media.allowsInternal()).isFalse();
    assertThat(media.hosts()).isEmpty();
    assertThat(media.ports()).containsExactlyInAnyOrder(80, 443);
    assertThat(media.cacheBytes()).isZero();
  }

  @Test
  void hostsAreReadInLowerCase() {
    var media =
        TestSettings.with(
                Map.of(
                    "dynamo.frontend.media.hosts",
                        "Media.Example.com, *.cdn.example,[2606:4700::1]",
                    "dynamo.frontend.media.ports", "443, 8443"))
            .frontend()
            .media();

    assertThat(media.hosts())
        .containsExactly("media.example.com", "*.cdn.example", "[2606:4700::1]");
    assertThat(media.ports()).containsExactlyInAnyOrder(443, 8443);
  }

  @ParameterizedTest
  @CsvSource({
    "hosts, https://example.com",
    "hosts, exa*mple.com",
    "hosts, example.com:80",
    "ports, 0",
    "ports, 65536",
    "ports, http",
    "fetch, sometimes"
  })
  void badValuesAreRefusedByTheirKey(String key, String value) {
    var name = "dynamo.frontend.media." + key;

    assertThatExceptionOfType(InvalidSettingsException.class)
        .isThrownBy(() -> TestSettings.with(Map.of(name, value)))
        .withMessageContaining(name);
  }
}
