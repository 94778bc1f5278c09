package io.dynamo.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.json.JsonObject;
import io.dynamo.net.PayloadFormat;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class JsonCodecTest {
  private final JsonCodec codec = new JsonCodec();

  @ParameterizedTest
  @EnumSource(PayloadFormat.class)
  void mapsSurviveTheWire(PayloadFormat format) {
    var message =
        JsonObject.of(
            JsonObject.ordered(
                "status",
                "success",
                "count",
                2L,
                "hot_swap",
                false,
                "loras",
                JsonObject.ordered("a", 1L),
                "list",
                List.of("x")));
    var request = codec.encodeRequest(message, format);
    assertThat(codec.decodeRequest(ByteBuffer.wrap(request), format).members().toString())
        .isEqualTo(message.members().toString());
    var item = codec.encodeItem(message, format);
    assertThat(codec.decodeItem(ByteBuffer.wrap(item), format).members().toString())
        .as("integers are as wide as they need to be")
        .isEqualTo(message.members().toString());
  }

  @Test
  void noRequestIsAnEmptyOneAndAnythingElseIsRefused() {
    assertThat(codec.decodeRequest(bytes("null"), PayloadFormat.JSON).members()).isEmpty();
    assertThatThrownBy(() -> codec.decodeRequest(bytes("[1]"), PayloadFormat.JSON))
        .isInstanceOf(InvalidRequestException.class);
    assertThatThrownBy(() -> codec.decodeItem(bytes("null"), PayloadFormat.JSON))
        .isInstanceOf(InvalidRequestException.class);
  }

  private static ByteBuffer bytes(String json) {
    return ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8));
  }
}
