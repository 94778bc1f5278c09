package io.dynamo.config.plane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.testing.TestSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NixlKeysTest {
  private static final List<String> UCX = List.of("UCX");

  private static NixlSettings settings(Map<String, String> given) {
    return TestSettings.with(given).transfer().nixl();
  }

  @Test
  void ucxIsTheBackendUnlessOthersAreAskedFor() {
    assertThat(settings(Map.of())).isEqualTo(new NixlSettings(null, null, UCX, Map.of()));
    var others =
        settings(
            Map.of(
                "dynamo.transfer.nixl.ucx", "false",
                "dynamo.transfer.nixl.mooncake", "true",
                "dynamo.transfer.nixl.libfabric", "true",
                "dynamo.transfer.nixl.library", "/opt/nixl",
                "dynamo.transfer.nixl.plugins", "/opt/plugins"));
    assertThat(others.backends()).containsExactly("LIBFABRIC", "MOONCAKE");
    assertThat(others.library()).isEqualTo(Path.of("/opt/nixl"));
    assertThat(others.plugins()).isEqualTo(Path.of("/opt/plugins"));
  }

  @Test
  void parametersBelongToABackend() {
    var given = "UCX.num_workers=2, UCX.ucx_devices=mlx5_0:1,MOONCAKE.x=";
    assertThat(settings(Map.of("dynamo.transfer.nixl.parameters", given)).parameters())
        .isEqualTo(
            Map.of(
                "UCX", Map.of("num_workers", "2", "ucx_devices", "mlx5_0:1"),
                "MOONCAKE", Map.of("x", "")));
    for (var wrong : new String[] {"num_workers=2", "UCX.num_workers", "GDS.a=1", "UCX.a b=1"}) {
      assertThatThrownBy(() -> settings(Map.of("dynamo.transfer.nixl.parameters", wrong)))
          .isInstanceOf(InvalidSettingsException.class)
          .hasMessageContaining("entries such as UCX.num_workers=2");
    }
  }
}
