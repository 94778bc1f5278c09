package io.dynamo.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.testing.CollidingKeys;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JsonReaderTest {
  private static final int FEW = 60;
  private static final int MANY = 1000;

  /** Each message alone has few names that collide; together they would be too many. */
  @Test
  void keysOfOneMessageDoNoHarmToTheNext() {
    var keys = CollidingKeys.ofBytes(MANY);
    for (int at = 0; at + FEW <= MANY; at += FEW) {
      assertThat(read(keys.subList(at, at + FEW))).hasSize(FEW);
    }
  }

  @Test
  void messageOfKeysThatCollideIsRefusedAndTheNextIsRead() {
    assertThatThrownBy(() -> read(CollidingKeys.ofBytes(MANY)))
        .isInstanceOf(InvalidRequestException.class);
    assertThat(read(List.of("another"))).containsOnlyKeys("another");
  }

  @Test
  void namesThatASenderChoosesAreForgottenWithItsMessage() {
    read(List.of("before"));
    int known = MessageJson.FACTORY.names();
    for (int message = 0; message < FEW; message++) {
      read(List.of("chosen" + message, "another" + message));
    }
    assertThat(MessageJson.FACTORY.names()).isEqualTo(known);
  }

  @Test
  void namesOfFormatsAreKeptOnceAndReadWithChosenOnes() {
    new Keys(Keys.entry(0, "a_name_of_this_test"), Keys.entry(1, "another_name_of_it"));
    int known = MessageJson.FACTORY.names();
    new Keys(Keys.entry(0, "a_name_of_this_test"));
    assertThat(MessageJson.FACTORY.names()).isEqualTo(known);
    assertThat(read(List.of("a_name_of_this_test", "chosen", "another_name_of_it")))
        .containsOnlyKeys("a_name_of_this_test", "chosen", "another_name_of_it");
  }

  private static Map<String, @Nullable Object> read(List<String> keys) {
    var body = ByteBuffer.wrap(CollidingKeys.object(keys).getBytes(StandardCharsets.UTF_8));
    return new JsonCodec().decodeRequest(body, PayloadFormat.JSON).members();
  }
}
