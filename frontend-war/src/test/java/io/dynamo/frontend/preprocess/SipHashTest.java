package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import org.junit.jupiter.api.Test;

class SipHashTest {
  private static final long KEY0 = 0x0706050403020100L;
  private static final long KEY1 = 0x0f0e0d0c0b0a0908L;

  /** The vectors of the reference implementation, of the bytes 0, 1, 2 and so on. */
  @Test
  void hashesAreThoseOfTheReference() {
    var hash = new SipHash(KEY0, KEY1);
    assertThat(hash.of("")).isEqualTo(0x726fdb47dd0e0e31L);
    assertThat(hash.of("\u0100")).isEqualTo(0x0d6c8009d9a94f5aL);
    assertThat(hash.of("\u0100\u0302")).isEqualTo(0xcf2794e0277187b7L);
    assertThat(hash.of("\u0100\u0302\u0504\u0706")).isEqualTo(0x93f5f5799a932462L);
  }

  @Test
  void textsOfOneStringHashHaveHashesOfTheirOwn() {
    var hash = SipHash.withRandomKey();
    var hashes = new HashSet<Integer>();
    for (int i = 0; i < 512; i++) {
      var text = new StringBuilder();
      for (int bit = 1; bit < 512; bit <<= 1) {
        text.append((i & bit) == 0 ? "Aa" : "BB"); // equal to String.hashCode
      }
      hashes.add(Long.hashCode(hash.of(text.toString())));
    }
    assertThat(hashes).hasSizeGreaterThan(500);
  }

  @Test
  void keysAreDrawnAnew() {
    assertThat(SipHash.withRandomKey().of("a")).isNotEqualTo(SipHash.withRandomKey().of("a"));
  }
}
