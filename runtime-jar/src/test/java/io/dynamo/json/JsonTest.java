package io.dynamo.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.testing.CollidingKeys;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class JsonTest {
  private static final int KEYS = 1000;

  @Test
  void keysThatCollideDoNoHarmToOtherTexts() {
    for (var keys : new String[] {bytes(KEYS), characters(KEYS)}) {
      assertThat(Json.readObject(utf8(keys)).members()).hasSize(KEYS);
    }
    assertThat(Json.readObject(utf8(bytes(2 * KEYS))).members()).hasSize(2 * KEYS);
    assertThat(Json.readObject(utf8("{\"another\":1}")).optionalCount("another")).isEqualTo(1);
  }

  private static String bytes(int count) {
    return CollidingKeys.object(CollidingKeys.ofBytes(count));
  }

  private static String characters(int count) {
    return CollidingKeys.object(CollidingKeys.ofCharacters(count));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
