package io.dynamo.wire.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dynamo.discovery.InstanceId;
import io.dynamo.event.CapturedEvent;
import io.dynamo.kv.SessionBinding;
import io.dynamo.wire.event.EnvelopeCodec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Compares session bindings with a message of Dynamo 1.6.1. */
class SessionBindingCodecGoldenTest {
  private static final int FRAME_HEADER_BYTES = 5;

  private static byte[] captured() throws IOException {
    var frames = CapturedEvent.frames("session_affinity");
    var envelope =
        EnvelopeCodec.decode(ByteBuffer.wrap(frames.get(3)).position(FRAME_HEADER_BYTES));
    assertThat(envelope.topic()).isEqualTo(SessionBinding.TOPIC);
    return envelope.payload();
  }

  @Test
  void aBindingIsTheCapturedOne() throws IOException {
    var binding =
        new SessionBinding(
            "sess-1",
            new InstanceId(0xdca1ae44c02755efL),
            0,
            0x18e9e4f6310391d8L,
            new InstanceId(0x40da0253f0925932L));

    assertThat(SessionBindingCodec.decode(captured())).isEqualTo(binding);
    assertThat(SessionBindingCodec.encode(binding)).isEqualTo(captured());
  }

  @Test
  void aWorkerMayBeNamedWithoutARankAndNumbersAreUnsigned() {
    var binding =
        new SessionBinding("s", new InstanceId(-1), null, -2, new InstanceId(Long.MIN_VALUE));

    assertThat(SessionBindingCodec.decode(SessionBindingCodec.encode(binding))).isEqualTo(binding);
  }

  @Test
  void anOlderRouterTellsNoSequence() {
    var bytes =
        HexFormat.of()
            .parseHex(
                "84"
                    + ("aa73657373696f6e5f6964" + "a173")
                    + ("a9776f726b65725f6964" + "07")
                    + ("a764705f72616e6b" + "c0")
                    + ("a9726f757465725f6964" + "09"));

    assertThat(SessionBindingCodec.decode(bytes))
        .isEqualTo(new SessionBinding("s", new InstanceId(7), null, 0, new InstanceId(9)));
  }

  @Test
  void malformedBindingsAreRefused() throws IOException {
    var captured = captured();

    assertThatIllegalArgumentException()
        .isThrownBy(() -> SessionBindingCodec.decode(new byte[] {(byte) 0x80}))
        .withMessageContaining("session_id");
    for (int length = 0; length < captured.length; length++) {
      var cut = Arrays.copyOf(captured, length);
      assertThatIllegalArgumentException().isThrownBy(() -> SessionBindingCodec.decode(cut));
    }
  }
}
