package io.dynamo.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class UrlHostTest {
  @Test
  void anIpv6AddressStandsInBrackets() {
    var ipv6 = InetAddress.ofLiteral("::1");
    assertThat(UrlHost.of("::1")).isEqualTo("[::1]");
    assertThat(UrlHost.of(ipv6)).startsWith("[").endsWith(":1]");
    assertThat(UrlHost.withPort(new InetSocketAddress(ipv6, 9090))).endsWith(":1]:9090");
  }

  @Test
  void namesAndIpv4AddressesStandAsTheyAre() {
    assertThat(UrlHost.of("host.example")).isEqualTo("host.example");
    assertThat(UrlHost.withPort(new InetSocketAddress(InetAddress.ofLiteral("10.0.0.7"), 80)))
        .isEqualTo("10.0.0.7:80");
  }
}
