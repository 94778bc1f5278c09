package io.dynamo.frontend.sse;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ByteTextTest {
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8}) // the seed names the failing run
  void aStrictParserReadsQuotedTextBack(long seed) throws Exception {
    var random = new Random(seed);
    var json = new ObjectMapper();
    var buffer = new ByteText(16);
    for (int round = 0; round < 500; round++) {
      var text = new StringBuilder();
      for (int i = random.nextInt(40); i > 0; i--) {
        int point = random.nextInt(random.nextBoolean() ? 0x100 : 0x110000);
        if (point < 0xD800 || point > 0xDFFF) {
          text.appendCodePoint(point);
        }
      }
      buffer.clear();
      var bytes = buffer.quoted(text.toString()).toByteArray();
      assertThat(json.readValue(bytes, String.class)).isEqualTo(text.toString());
    }
  }

  @Test
  void halfASurrogatePairBecomesTheReplacementCharacter() {
    var bytes = new ByteText(16).quoted("a\ud83db\udc4b").toByteArray();
    assertThat(new String(bytes, StandardCharsets.UTF_8)).isEqualTo("\"a\ufffdb\ufffd\"");
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 9, 10, 99, 1795217895, Long.MAX_VALUE, -1, Long.MIN_VALUE})
  void numbersAreDecimal(long value) {
    assertThat(new String(new ByteText(1).number(value).toByteArray(), StandardCharsets.US_ASCII))
        .isEqualTo(Long.toString(value));
  }
}
