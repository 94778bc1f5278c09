package io.dynamo.worker.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LocalCallerTest {
  @ParameterizedTest
  @CsvSource({"127.0.0.1,localhost", "127.0.0.1,127.0.0.1", "::1,[::1]", "127.0.0.5,localhost"})
  void aCommandOnThisMachineIsLocal(String remote, String host) {
    assertThat(LocalCaller.is(remote, host, _ -> null)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.7,localhost",
    "127.0.0.1,attacker.example",
    "127.0.0.1,10.0.0.7",
    "not-an-address,localhost"
  })
  void anotherMachineOrNameIsNot(String remote, String host) {
    assertThat(LocalCaller.is(remote, host, _ -> null)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Origin", "Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"})
  void whatCameThroughAProxyOrAPageIsNot(String mark) {
    assertThat(LocalCaller.is("127.0.0.1", "localhost", name -> name.equals(mark) ? "x" : null))
        .isFalse();
  }

  @Test
  void nothingIsLookedUp() {
    assertThat(LocalCaller.is("localhost", "localhost", _ -> null)).isFalse();
  }
}
