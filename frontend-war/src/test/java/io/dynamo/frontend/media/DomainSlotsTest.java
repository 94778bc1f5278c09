package io.dynamo.frontend.media;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DomainSlotsTest {
  @ParameterizedTest
  @CsvSource({
    "example.com, example.com",
    "a.b.example.com, example.com",
    "a.example.co.uk, example.co.uk",
    "x.example.uk, example.uk",
    "co.uk, co.uk",
    "localhost, localhost",
    "10.1.2.3, 10.1.2.3",
    "[2001:db8::1.2.3.4], [2001:db8::1.2.3.4]",
  })
  void hostsBelongToTheDomainThatOneRegisters(String host, String domain) {
    assertThat(DomainSlots.domain(host)).isEqualTo(domain);
  }

  @Test
  void domainsHavePlacesOfTheirOwn() throws Exception {
    var slots = new DomainSlots(1);
    var first = Objects.requireNonNull(slots.acquire("a.example.com", 0));

    assertThat(slots.acquire("b.example.com", 1)).isNull();
    assertThat(slots.acquire("b.example.org", 0)).isNotNull();
    first.close();
    assertThat(slots.acquire("b.example.com", 0)).isNotNull();
  }
}
