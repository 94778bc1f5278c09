package io.dynamo.wire.generate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Usage;
import io.dynamo.net.PayloadFormat;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The coders of one answer use their memory again: no item may show in another. */
class ItemCodersTest {
  private static final List<EngineOutput> ITEMS =
      List.of(
          EngineOutput.ofTokens(7),
          EngineOutput.ofTokens(new int[40_000]),
          EngineOutput.ofTokens(),
          new EngineOutput(new int[] {1, 70_000}, "grün", null, null, 3, new Usage(5, 2, 1)),
          EngineOutput.finish(FinishReason.LENGTH, null, 9),
          EngineOutput.ofTokens(8));

  private final GenerateCodec codec = new GenerateCodec();

  private static byte[] bytes(ByteBuffer from) {
    var bytes = new byte[from.remaining()];
    from.get(bytes);
    return bytes;
  }

  @ParameterizedTest
  @EnumSource
  void anEncoderWritesEachItemAsItWouldAlone(PayloadFormat format) {
    var encoder = codec.encoder(format);
    for (var item : ITEMS) {
      assertThat(bytes(encoder.encode(item))).isEqualTo(codec.encodeItem(item, format));
    }
  }

  @ParameterizedTest
  @EnumSource
  void aDecoderReadsEachItemAsItWouldAlone(PayloadFormat format) {
    var decoder = codec.decoder(format);
    var shared = ByteBuffer.allocate(1 << 20);
    for (var item : ITEMS) {
      byte[] alone = codec.encodeItem(item, format);
      shared.clear().put(alone).flip();
      var read = decoder.decode(shared);
      shared.clear().put(new byte[alone.length]); // the item must keep nothing of it
      assertThat(codec.encodeItem(read, format)).isEqualTo(alone);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aDecoderReadsOnAfterWhatIsNoItem(PayloadFormat format) {
    var decoder = codec.decoder(format);
    byte[] item = codec.encodeItem(EngineOutput.ofTokens(1, 2), format);
    for (int cut = 0; cut < item.length; cut++) {
      var part = ByteBuffer.wrap(item, 0, cut);
      assertThatThrownBy(() -> decoder.decode(part))
          .as("the first %d bytes", cut)
          .isInstanceOf(InvalidRequestException.class);
    }
    assertThat(decoder.decode(ByteBuffer.wrap(item)).tokenIds()).containsExactly(1, 2);
  }
}
