package io.dynamo.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TransportAddressTest {
  @ParameterizedTest
  @CsvSource({
    "10.0.0.7:4000/1a/ns/comp/generate, 10.0.0.7:4000, 1a/ns/comp/generate",
    "tcp://10.0.0.7:4000/1a/ns/comp/generate, 10.0.0.7:4000, 1a/ns/comp/generate",
    "[2001:db8::7]:4000/1a/ns/comp/generate, [2001:db8::7]:4000, 1a/ns/comp/generate",
    "tcp://[::1]:4000/generate, [::1]:4000, generate"
  })
  void tcpAddressesAreCutAtTheFirstSlash(String text, String address, String path) {
    assertThat(TransportAddress.Tcp.parse(text)).isEqualTo(new TransportAddress.Tcp(address, path));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "10.0.0.7:4000", "10.0.0.7:4000/", "/1a/generate", "tcp:///1a"})
  void textsWithoutAddressOrPathAreRefusedWithTheirForm(String text) {
    assertThatThrownBy(() -> TransportAddress.Tcp.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("tcp transport \"" + text + "\" is not ip:port/path");
  }

  @Test
  void http2AddressesKeepTheirPathWithItsSlash() {
    var address = TransportAddress.Http2.parse("https://[::1]:4000/v1/rpc/1a/ns/comp/generate");
    assertThat(address)
        .isEqualTo(new TransportAddress.Http2(true, "[::1]:4000", "/v1/rpc/1a/ns/comp/generate"));
    assertThat(address).hasToString("https://[::1]:4000/v1/rpc/1a/ns/comp/generate");
  }
}
