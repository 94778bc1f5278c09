package io.dynamo.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.testing.CollidingKeys;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

  @Test
  void membersThatAShapeSkipsAreLeftOutOfTheMessageAndOfOpenedOnes() {
    var shape = new MessageShape(Set.of("opened"), Set.of("skipped"));
    var text =
        "{\"skipped\":{\"a\":[1]},\"opened\":[{\"skipped\":1,\"b\":2},3],\"kept\":{\"skipped\":4}}";
    assertThat(Json.readMessage(utf8(" " + text + " x"), 1, text.length() + 1, shape).members())
        .isEqualTo(Map.of("opened", List.of(Map.of("b", 2), 3), "kept", Map.of("skipped", 4)));
    for (var bad : List.of("{\"skipped\":x}", "{\"skipped\":[1}", "{\"opened\":{},\"opened\":1}")) {
      assertThatIllegalArgumentException()
          .as(bad)
          .isThrownBy(() -> Json.readMessage(utf8(bad), 0, bad.length(), shape));
    }
  }

  @Test
  void messagesAreReadAsOtherObjectsAre() {
    var text =
        utf8(
            "{\"i\":1,\"l\":-5000000000,\"b\":18446744073709551615,\"d\":-2.98e-6,\"t\":true,\"f\":false,\"n\":null,\"s\":\"\\u00e9\\n\",\"o\":{},\"a\":[[],{\"x\":null}]}");
    assertThat(Json.readMessage(text)).isEqualTo(Json.readObject(text));
    assertThat(Json.readMessage(text).members())
        .containsExactlyEntriesOf(Json.readObject(text).members());
  }

  @Test
  void membersCannotBeChanged() {
    var message = Json.readMessage(utf8("{\"a\":{\"b\":1}}"));
    for (var members : List.of(message.members(), message.object("a").members())) {
      assertThatThrownBy(members::clear).isInstanceOf(UnsupportedOperationException.class);
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
