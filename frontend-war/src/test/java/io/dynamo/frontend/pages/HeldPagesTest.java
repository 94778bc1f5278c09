package io.dynamo.frontend.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class HeldPagesTest {
  private static final int PAGE = 40_000;

  private final HeldPages held = new HeldPages(3 * PAGE);

  private static byte[] text(int letter) {
    var text = new byte[PAGE];
    Arrays.fill(text, (byte) letter);
    return text;
  }

  @Test
  void aPageIsWrittenWholeAndItsMemoryIsFreeOnceItIsClosed() throws IOException {
    var out = new ByteArrayOutputStream();
    try (var page = held.hold(text('a'))) {
      assertThat(held.bytes()).isEqualTo(PAGE);
      page.writeTo(out);
    }
    assertThat(out.toByteArray()).isEqualTo(text('a'));
    assertThat(held.bytes()).isZero();
  }

  @Test
  void theOldestPageGoesForANewOneAndItsAnswerBreaksOff() throws IOException {
    var first = held.hold(text('a'));
    var second = held.hold(text('b'));
    var others = new HeldPages.Page[2];
    var written = new ByteArrayOutputStream();
    var slow =
        new OutputStream() {
          @Override
          public void write(int b) {
            throw new AssertionError("bytes come in pieces");
          }

          @Override
          public void write(byte[] piece, int from, int length) {
            written.write(piece, from, length);
            if (others[0] == null) {
              others[0] = held.hold(text('c')); // the last that fits
              others[1] = held.hold(text('d'));
            }
          }
        };

    assertThatThrownBy(() -> first.writeTo(slow)).isInstanceOf(IOException.class);

    assertThat(written.size()).isPositive().isLessThan(PAGE);
    assertThat(held.bytes()).isEqualTo(3 * PAGE);
    first.close(); // dropped already
    assertThat(held.bytes()).isEqualTo(3 * PAGE);
    second.writeTo(new ByteArrayOutputStream());
  }

  @Test
  void aPageBeyondAllRoomIsHeldAlone() throws IOException {
    var small = held.hold(text('a'));
    var large = held.hold(new byte[4 * PAGE]);
    assertThat(held.bytes()).isEqualTo(4 * PAGE);
    large.writeTo(new ByteArrayOutputStream());
    assertThatThrownBy(() -> small.writeTo(new ByteArrayOutputStream()))
        .isInstanceOf(IOException.class);
    large.close();
    assertThat(held.bytes()).isZero();
  }
}
