package io.dynamo.wire.generate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.inference.BodyTask;
import io.dynamo.inference.TaskOutput;
import io.dynamo.net.PayloadFormat;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bodies and answers of any form, in both payload formats. */
class BodyTaskCodecTest {
  private final BodyTaskCodec codec = new BodyTaskCodec();

  @ParameterizedTest
  @EnumSource(PayloadFormat.class)
  void bodiesComeBackAsTheyWere(PayloadFormat format) {
    var body = new LinkedHashMap<String, Object>();
    body.put("model", "m");
    body.put("documents", List.of("ü", ""));
    body.put("nothing", null);
    body.put("half", 0.5);
    body.put("flag", true);

    var read =
        codec.decodeRequest(
            ByteBuffer.wrap(codec.encodeRequest(new BodyTask(body), format)), format);

    assertThat(read.body()).isEqualTo(body);
    assertThat(List.copyOf(read.body().keySet())).isEqualTo(List.copyOf(body.keySet()));
  }

  @ParameterizedTest
  @EnumSource(PayloadFormat.class)
  void answersComeBackAsTheyWere(PayloadFormat format) {
    for (var answer : List.of(new TaskOutput(List.of("a", 0.25)), new TaskOutput(null))) {
      assertThat(codec.decodeItem(ByteBuffer.wrap(codec.encodeItem(answer, format)), format))
          .isEqualTo(answer);
    }
  }

  @ParameterizedTest
  @EnumSource(PayloadFormat.class)
  void aRequestThatIsNoMapIsRefused(PayloadFormat format) {
    var list = codec.encodeItem(new TaskOutput(List.of()), format);

    assertThatThrownBy(() -> codec.decodeRequest(ByteBuffer.wrap(list), format))
        .hasMessageContaining("no map");
    assertThatThrownBy(
            () ->
                codec.decodeRequest(ByteBuffer.wrap("{".getBytes(StandardCharsets.UTF_8)), format))
        .isInstanceOf(RuntimeException.class);
  }
}
