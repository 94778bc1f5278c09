package io.dynamo.worker.engine.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KvEventEndpointTest {
  @Test
  void eachRankHasPortsOfItsOwn() {
    var first = KvEventEndpoint.of("engine", "tcp://*:65530", "tcp://*:5657");

    assertThat(first.ofRank(5))
        .isEqualTo(new KvEventEndpoint("tcp://engine:65535", "tcp://engine:5662"));
  }

  @Test
  void aRankBeyondTheLastPortIsRefusedWithTheNumbers() {
    var first = KvEventEndpoint.of("engine", "tcp://*:65530", null);

    assertThatThrownBy(() -> first.ofRank(6))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("rank 6")
        .hasMessageContaining("port 65536")
        .hasMessageContaining("dynamo.worker.remote.kv-events");
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp://engine:65536", "tcp://engine:0", "tcp://engine", "ipc://engine:1"})
  void addressesWithoutAPortAreRefused(String address) {
    assertThatThrownBy(() -> KvEventEndpoint.of("engine", address, null))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
