package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.testing.TestSettings;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResponsesKeysTest {
  private static final String PREFIX = "dynamo.frontend.responses.";

  @ParameterizedTest
  @ValueSource(strings = {"queue-bytes", "max-bytes"})
  void inputThatCouldNeverBeStoredIsRefused(String bound) {
    assertThatThrownBy(
            () ->
                TestSettings.with(Map.of(PREFIX + "max-input", "2MiB", PREFIX + bound, "2097152")))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(PREFIX + "max-input = 2097152 bytes")
        .hasMessageContaining(PREFIX + bound + " = 2097152 bytes");
  }

  @Test
  void inputBelowBothBoundsIsTaken() {
    TestSettings.with(
        Map.of(
            PREFIX + "max-input", "1MiB",
            PREFIX + "queue-bytes", "2MiB",
            PREFIX + "max-bytes", "2MiB"));
  }
}
