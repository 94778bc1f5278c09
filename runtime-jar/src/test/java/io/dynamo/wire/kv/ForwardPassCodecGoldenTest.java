package io.dynamo.wire.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.event.CapturedEvent;
import io.dynamo.kv.ForwardPass;
import io.dynamo.kv.ForwardPass.Work;
import io.dynamo.kv.WorkerRank;
import io.dynamo.wire.event.EnvelopeCodec;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Compares reports of forward passes with messages of Dynamo 1.6.1. */
class ForwardPassCodecGoldenTest {
  private static final WorkerRank RANK =
      new WorkerRank(new InstanceId(Long.parseUnsignedLong("15898179769899374063")), 0);
  private static final int FRAME_HEADER_BYTES = 5;

  private static byte[] payload(String name) throws IOException {
    var frame =
        ByteBuffer.wrap(CapturedEvent.frames("forward-pass-metrics-" + name).get(3))
            .position(FRAME_HEADER_BYTES);
    return EnvelopeCodec.decode(frame).payload();
  }

  @Test
  void theSignOfLifeIsTheCapturedOne() throws IOException {
    assertThat(ForwardPassCodec.encode(RANK, 1, ForwardPass.IDLE)).isEqualTo(payload("idle"));
  }

  @Test
  void aPrefillIsTheCapturedOne() throws IOException {
    var pass =
        new ForwardPass(
            Double.longBitsToDouble(0x3f5c08370ebd9168L),
            new Work(1, 40, 0, 0, 0, 0, 0),
            Work.NONE);

    assertThat(ForwardPassCodec.encode(RANK, 10, pass)).isEqualTo(payload("prefill"));
  }

  @Test
  void aDecodeIsTheCapturedOne() throws IOException {
    var pass =
        new ForwardPass(
            Double.longBitsToDouble(0x3f5a60adae933333L),
            new Work(0, 0, 0, 0, 1, 41, 0),
            Work.NONE);

    assertThat(ForwardPassCodec.encode(RANK, 11, pass)).isEqualTo(payload("decode"));
  }
}
