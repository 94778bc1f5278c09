package io.dynamo.config.plane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.testing.TestSettings;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class UcxKeysTest {
  private static UcxSettings settings(Map<String, String> given) {
    return TestSettings.with(given).transfer().ucx();
  }

  @Test
  void ucxIsOffUnlessItIsAskedFor() {
    assertThat(settings(Map.of())).isEqualTo(new UcxSettings(UcxMode.OFF, null));
    assertThat(
            settings(
                Map.of(
                    "dynamo.transfer.ucx.mode", "auto",
                    "dynamo.transfer.ucx.library", "/opt/ucx/lib")))
        .isEqualTo(new UcxSettings(UcxMode.AUTO, Path.of("/opt/ucx/lib")));
    assertThatThrownBy(() -> settings(Map.of("dynamo.transfer.ucx.mode", "on")))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("dynamo.transfer.ucx.mode")
        .hasMessageContaining("off or auto or always");
  }
}
