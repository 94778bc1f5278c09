package io.dynamo.frontend.postprocess;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.dynamo.model.vocabulary.TokenTable;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class IncrementalDetokenizerTest {
  /** Tokens of one byte. */
  private record Bytes(byte[][] all) implements TokenTable {
    static Bytes table() {
      var all = new byte[256][];
      for (int b = 0; b < 256; b++) {
        all[b] = new byte[] {(byte) b};
      }
      return new Bytes(all);
    }

    @Override
    public int size() {
      return 256;
    }

    @Override
    public byte[] bytes(int id) {
      return all[id];
    }

    @Override
    public boolean isSpecial(int id) {
      return false;
    }
  }

  @Test
  void tokensLeaveNoGarbage() {
    var text = "plain, Straße, 漢字 🙂 ".repeat(200).getBytes(StandardCharsets.UTF_8);
    var detokenizer = new IncrementalDetokenizer(Bytes.table(), true);
    var out = new StringBuilder(text.length);
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long allocated = Long.MAX_VALUE;
    for (int round = 0; round < 5; round++) {
      out.setLength(0);
      out.append('漢'); // takes two bytes for each character from here on
      long before = threads.getCurrentThreadAllocatedBytes();
      for (byte b : text) {
        detokenizer.append(b & 0xFF, out);
      }
      allocated = Math.min(allocated, threads.getCurrentThreadAllocatedBytes() - before);
    }

    assertThat(out.substring(1)).isEqualTo(new String(text, StandardCharsets.UTF_8));
    assertThat(allocated).isLessThan(text.length); // less than a byte for each token
  }

  @Test
  void anIncompleteCharacterAtTheEndIsReplacedOnce() {
    var detokenizer = new IncrementalDetokenizer(Bytes.table(), true);
    var out = new StringBuilder();
    for (int b : new int[] {'a', 0xF0, 0x9F, 0x99}) {
      detokenizer.append(b, out);
    }

    assertThat(out.toString()).isEqualTo("a");
    detokenizer.finish(out);
    assertThat(out.toString()).isEqualTo("a\uFFFD");
  }
}
