package io.dynamo.frontend.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class JsonCostTest {
  private static JsonCost cost(String json) {
    var cost = new JsonCost();
    var bytes = json.getBytes(StandardCharsets.UTF_8);
    cost.add(bytes, bytes.length);
    return cost;
  }

  private static long strings(String json) {
    return cost(json).keptBytes() - cost(json.replaceAll("\"[^\"]*\"", "\"\"")).keptBytes();
  }

  @Test
  void stringsTakeOneByteForACharacterOrTwo() {
    assertThat(strings("[\"abc\"]")).isEqualTo(3);
    assertThat(strings("[\"abcé\"]")).isEqualTo(4);
    assertThat(strings("[\"abc€\"]")).isEqualTo(8);
    assertThat(strings("[\"abc😀\"]")).isEqualTo(10);
    assertThat(strings("[\"€\",\"abc\"]")).isEqualTo(5);
    assertThat(strings("[\"\\u20ac\"]")).isEqualTo(10); // an upper bound
  }

  @Test
  void bracketsInsideAStringAreNoStructure() {
    assertThat(cost("[\"{,:[\\\"{,:[\"]").keptBytes())
        .isEqualTo(cost("[\"aaaaaaaaaa\"]").keptBytes() - 1);
  }

  @Test
  void aTextInsideAStringIsChargedAsWhatItBecomes() {
    var inner = "{\"a\":[" + "{},".repeat(10_000) + "{}]}";
    var outer = cost("{}");
    long before = outer.keptBytes();
    long length = outer.length();
    outer.addInner(inner);
    assertThat(outer.keptBytes() - before).isEqualTo(cost(inner).keptBytes());
    assertThat(outer.length()).isEqualTo(length);
    outer.addInner("[\"breaks off");
    outer.addInner(inner);
    assertThat(outer.keptBytes() - before).isGreaterThan(2 * cost(inner).keptBytes());
  }

  @Test
  void piecesAreOneText() {
    var whole = cost("{\"a\":\"b\\\"c\",\"d\":[1,2]}");
    var pieces = new JsonCost();
    for (byte one : "{\"a\":\"b\\\"c\",\"d\":[1,2]}".getBytes(StandardCharsets.UTF_8)) {
      pieces.add(new byte[] {one, '"'}, 1);
    }
    assertThat(pieces.keptBytes()).isEqualTo(whole.keptBytes());
    assertThat(pieces.workBytes()).isEqualTo(whole.workBytes());
  }

  @Test
  void smallContainersCostManyTimesTheirBytes() {
    assertThat(cost("[" + "{},".repeat(1000) + "{}]").keptBytes()).isGreaterThan(40 * 3000);
  }
}
