package io.dynamo.wire.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.InstanceId;
import io.dynamo.event.CapturedEvent;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.kv.WorkerRank;
import io.dynamo.wire.event.EnvelopeCodec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Compares load reports with messages of Dynamo 1.6.1. */
class LoadCodecsGoldenTest {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(0xdca1ae44c02755efL), 0);
  private static final int FRAME_HEADER_BYTES = 5;

  private static byte[] payload(String name) throws IOException {
    var frame = ByteBuffer.wrap(CapturedEvent.frames(name).get(3)).position(FRAME_HEADER_BYTES);
    return EnvelopeCodec.decode(frame).payload();
  }

  @Test
  void aLoadReportIsTheCapturedOne() throws IOException {
    var captured = payload("kv_metrics");

    assertThat(ActiveLoadCodec.encode(ActiveLoad.ofUsedBlocks(RANK, 3))).isEqualTo(captured);
    assertThat(ActiveLoadCodec.decode(captured)).isEqualTo(new ActiveLoad(RANK, null, null, 3L));
  }

  @Test
  void everyPartOfALoadReportIsReadBack() {
    var load = new ActiveLoad(new WorkerRank(new InstanceId(-1), 7), 0L, 1L << 40, null);

    assertThat(ActiveLoadCodec.decode(ActiveLoadCodec.encode(load))).isEqualTo(load);
  }

  @Test
  void partsMayBeMissingAndOthersMayCome() {
    var bytes = HexFormat.of().parseHex("82" + "a178" + "9101" + "a9776f726b65725f6964" + "07");

    assertThat(ActiveLoadCodec.decode(bytes))
        .isEqualTo(new ActiveLoad(new WorkerRank(new InstanceId(7), 0), null, null, null));
  }

  @Test
  void malformedLoadReportsAreRefused() throws IOException {
    var captured = payload("kv_metrics");

    assertThatThrownBy(() -> ActiveLoadCodec.decode(new byte[] {(byte) 0x80}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("worker_id");
    for (int length = 0; length < captured.length; length++) {
      var cut = Arrays.copyOf(captured, length);
      assertThatThrownBy(() -> ActiveLoadCodec.decode(cut))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
