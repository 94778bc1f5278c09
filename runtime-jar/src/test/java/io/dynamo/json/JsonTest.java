package io.dynamo.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dynamo.testing.CollidingKeys;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTest {
  private static final int FEW = 60;
  private static final int KEYS = 1000;

  @Test
  void keysThatCollideDoNoHarmToOtherTexts() {
    for (var keys : new String[] {bytes(KEYS), characters(KEYS)}) {
      assertThat(Json.readObject(utf8(keys)).members()).hasSize(KEYS);
    }
    assertThat(Json.readObject(utf8(bytes(2 * KEYS))).members()).hasSize(2 * KEYS);
    assertThat(Json.readObject(utf8("{\"another\":1}")).optionalCount("another")).isEqualTo(1);
  }

  /** Each message alone has few names that collide; together they would be too many. */
  @Test
  void keysOfOneMessageThatCollideDoNoHarmToTheNext() {
    var keys = CollidingKeys.ofBytes(KEYS);
    for (int at = 0; at + FEW <= KEYS; at += FEW) {
      var text = CollidingKeys.object(keys.subList(at, at + FEW));
      assertThat(Json.readMessage(utf8(text)).members()).hasSize(FEW);
    }
    assertThatIllegalArgumentException().isThrownBy(() -> Json.readMessage(utf8(bytes(KEYS))));
    assertThat(Json.readMessage(utf8("{\"another\":1}")).optionalCount("another")).isEqualTo(1);
  }

  @Test
  void expectedNamesAreReadBesideOthers() {
    Json.expect("expected", "expected");
    assertThat(Json.readMessage(utf8("{\"expected\":{\"other\":[1,\"\u00e9\"]}}")).members())
        .isEqualTo(Map.of("expected", Map.of("other", List.of(1, "\u00e9"))));
  }

  @Test
  void messagesMustBeWholeObjectsInUtf8WithoutDuplicates() {
    var cut = utf8("{\"a\":\"bc\"}");
    cut[6] = (byte) 0xc3; // begins a character of two bytes, which "c" does not continue
    assertThatIllegalArgumentException().isThrownBy(() -> Json.readMessage(cut));
    for (var bad :
        List.of("", "1", "[]", "{\"a\":1", "{}{}", "{\"a\":1,\"a\":2}", "[".repeat(70))) {
      assertThatIllegalArgumentException().as(bad).isThrownBy(() -> Json.readMessage(utf8(bad)));
    }
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
