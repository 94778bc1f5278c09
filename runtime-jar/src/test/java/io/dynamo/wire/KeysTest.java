package io.dynamo.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class KeysTest {
  @Test
  void namesStandAtThePositionsOfTheirEntries() {
    var keys = new Keys(Keys.entry(1, "second"), Keys.entry(0, "first"));

    assertThat(keys.indexOf("first")).isZero();
    assertThat(keys.indexOf("second")).isOne();
    assertThat(keys.indexOf("third")).isEqualTo(Keys.UNKNOWN);
  }

  @Test
  void twoNamesAtOnePositionAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Keys(Keys.entry(0, "first"), Keys.entry(0, "second")))
        .withMessageContaining("\"second\" has position 0");
  }

  @Test
  void positionWithoutNameIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Keys(Keys.entry(0, "first"), Keys.entry(2, "third")))
        .withMessageContaining("\"third\" has position 2 of 2");
  }
}
