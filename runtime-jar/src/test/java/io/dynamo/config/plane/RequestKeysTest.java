package io.dynamo.config.plane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.testing.TestSettings;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestKeysTest {
  private static RequestSettings read(Map<String, String> values) {
    return TestSettings.with(values).request();
  }

  @Test
  void requestsTravelOverTcpUnlessSettingsSayOtherwise() {
    assertThat(read(Map.of()).planes()).containsExactly(RequestPlane.TCP);
  }

  @Test
  void severalPlanesKeepTheirOrder() {
    assertThat(read(Map.of("dynamo.request.plane", "HTTP2, tcp")).planes())
        .containsExactly(RequestPlane.HTTP2, RequestPlane.TCP);
  }

  @Test
  void http2ListensWhereTcpDoesUnlessItHasAnAddressOfItsOwn() {
    assertThat(read(Map.of("dynamo.request.tcp.host", "127.0.0.2")).http2().host())
        .isEqualTo("127.0.0.2");
    var own =
        Map.of("dynamo.request.http2.host", "127.0.0.3", "dynamo.request.http2.root-path", "/r/");
    assertThat(read(own).http2())
        .isEqualTo(new RequestSettings.Http2Settings("127.0.0.3", 0, "/r"));
  }

  @ParameterizedTest
  @CsvSource({
    "dynamo.request.plane, quic, 'names quic, over which nothing travels here'",
    "dynamo.request.plane, 'tcp,tcp', names tcp twice",
    "dynamo.request.plane, velo, 'is not tcp, nats or http2'",
    "dynamo.request.http2.host, 10.0.0.1, is reachable from other machines",
    "dynamo.request.http2.host, 0.0.0.0, stands for every address",
    "dynamo.request.http2.root-path, v1, is not a slash"
  })
  void otherValuesAreRefusedWithTheReason(String key, String value, String why) {
    assertThatThrownBy(() -> read(Map.of(key, value)))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(key)
        .hasMessageContaining(why);
  }
}
