package io.dynamo.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Tests the rings without a thread behind them. */
class TransferRingsTest {
  private final TransferRings rings = new TransferRings(1024, 4);

  private boolean offer(long ticket, int ranges) {
    return rings.offer(ticket, false, 1, 2, 3, new long[3 * ranges]);
  }

  private static void put(ByteBuffer ring, int at, long value) {
    ring.putLong(at, value);
  }

  @Test
  void aRecordIsLaidOutAsTheLibraryReadsIt() {
    assertThat(rings.offer(7, true, 11, 12, 13, new long[] {21, 22, 23})).isTrue();
    var ring = rings.submissions();
    assertThat(ring.getLong(0)).isEqualTo(128);
    assertThat(ring.getLong(256)).isEqualTo(7);
    assertThat(ring.getLong(264)).isEqualTo(1 | (1 << 16) | (1L << 32));
    assertThat(ring.getLong(272)).isEqualTo(11);
    assertThat(ring.getLong(280)).isEqualTo(12);
    assertThat(ring.getLong(296)).isEqualTo(13);
    assertThat(ring.getLong(320)).isEqualTo(21);
    assertThat(ring.getLong(336)).isEqualTo(23);
  }

  @Test
  void aFullRingTakesNothingUntilRecordsWereRead() {
    for (int i = 0; i < 8; i++) {
      assertThat(offer(i, 2)).isTrue();
    }
    assertThat(offer(8, 2)).isFalse();
    put(rings.submissions(), 64, 128); // one was read
    assertThat(offer(8, 2)).isTrue();
    assertThat(offer(9, 2)).isFalse();
  }

  @Test
  void aRecordThatDoesNotFitBeforeTheEndStartsOver() {
    for (int i = 0; i < 7; i++) {
      assertThat(offer(i, 2)).isTrue();
    }
    put(rings.submissions(), 64, 896);
    assertThat(offer(7, 8)).isTrue(); // 256 bytes, 128 are left before the end
    assertThat(rings.submissions().getLong(256 + 896 + 8) & 0xff).isEqualTo(255);
    assertThat(rings.submissions().getLong(256)).isEqualTo(7);
    assertThat(rings.submissions().getLong(0)).isEqualTo(1024 + 256);
  }

  @Test
  void moreRangesThanHalfTheRingAreRefused() {
    assertThat(rings.maxRanges()).isEqualTo(18);
    assertThat(offer(1, 18)).isTrue();
    assertThatIllegalArgumentException().isThrownBy(() -> offer(2, 19));
  }

  @Test
  void completionsAreReadInOrderAndOnce() {
    var ring = rings.completions();
    for (int i = 0; i < 6; i++) {
      int at = 256 + i % 4 * 32;
      put(ring, at, 40 + i);
      put(ring, at + 8, (-3 & 0xffffffffL) | (5L << 32));
      put(ring, at + 16, 1000);
      put(ring, 0, i + 1);
      int ticket = 40 + i;
      assertThat(
              rings.drain(
                  (which, status, bytes, micros) -> {
                    assertThat(which).isEqualTo(ticket);
                    assertThat(status).isEqualTo(-3);
                    assertThat(bytes).isEqualTo(1000);
                    assertThat(micros).isEqualTo(5);
                  }))
          .isEqualTo(1);
      assertThat(ring.getLong(64)).isEqualTo(i + 1);
    }
    assertThat(rings.drain((which, status, bytes, micros) -> {})).isZero();
  }

  @Test
  void sizesOfNoPowerOfTwoAreRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new TransferRings(1000, 4));
    assertThatIllegalArgumentException().isThrownBy(() -> new TransferRings(1024, 0));
  }
}
