package io.dynamo.frontend.media;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PublicAddressesTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.100.100.200", // Alibaba's metadata service
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16", // Azure's
        "169.254.169.254", // that of most clouds
        "169.254.170.2",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192", // Oracle's
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::127.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "100::1",
        "2001::1", // Teredo
        "2001:0:7f00:1::",
        "2001:10::1",
        "2001:db8::1",
        "2002:7f00:1::", // 6to4
        "2002:a9fe:a9fe::",
        "2002:808:808::",
        "3fff::1",
        "fc00::1",
        "fd00:ec2::254", // Amazon's
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "4000::1"
      })
  void insideAddressesAreNotPublic(String address) {
    assertThat(PublicAddresses.isPublic(InetAddress.ofLiteral(address))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.1.1.1",
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "168.63.129.17",
        "192.0.1.1",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "2001:4860:4860::8888",
        "64:ff9b::808:808"
      })
  void addressesOfTheInternetArePublic(String address) {
    assertThat(PublicAddresses.isPublic(InetAddress.ofLiteral(address))).isTrue();
  }

  @Test
  void theMachinesOwnAddressesAreKnown() {
    assertThat(PublicAddresses.isOwn(InetAddress.getLoopbackAddress())).isTrue();
    assertThat(PublicAddresses.isOwn(InetAddress.ofLiteral("192.0.2.77"))).isFalse();
  }
}
