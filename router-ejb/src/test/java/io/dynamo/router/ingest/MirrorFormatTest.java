package io.dynamo.router.ingest;

import static io.dynamo.router.ingest.TestRanks.RANK;
import static io.dynamo.router.ingest.TestRanks.SIBLING;
import static io.dynamo.router.ingest.TestRanks.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.wire.kv.KvEventCodec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class MirrorFormatTest {
  private static final RankMirrors.State ON_DEVICE =
      new RankMirrors.State(9, RANK, 4, List.of(stored(RANK, 1, 0, 1)));
  private static final RankMirrors.State WITH_HOST =
      new RankMirrors.State(
          10,
          SIBLING,
          5,
          List.of(
              stored(SIBLING, 1, 0, 1),
              RankEvent.of(SIBLING, StorageTier.HOST_PINNED, stored(SIBLING, 2, 1, 2).event())));

  private final MirrorFormat format = new MirrorFormat(KvEventCodec::encode, KvEventCodec::decode);

  /** Returns a snapshot of {@link #ON_DEVICE} as routers wrote it before they had other tiers. */
  private static byte[] firstVersion() {
    var blocks = KvEventCodec.encode(ON_DEVICE.blocks());
    return ByteBuffer.allocate(8 + 32 + blocks.length)
        .putInt(0x444B5601)
        .putInt(1)
        .putLong(9)
        .putLong(RANK.worker().value())
        .putInt(RANK.rank())
        .putLong(4)
        .putInt(blocks.length)
        .put(blocks)
        .array();
  }

  @Test
  void aSnapshotOfTheFirstVersionIsRead() throws IOException {
    assertThat(format.read(firstVersion())).containsExactly(ON_DEVICE);
  }

  @Test
  void blocksOfTheDeviceAloneAreWrittenForEarlierRouters() {
    assertThat(format.write(List.of(ON_DEVICE))).isEqualTo(firstVersion());
  }

  @Test
  void blocksBelowTheDeviceAreKeptFromEarlierRouters() throws IOException {
    var content = format.write(List.of(ON_DEVICE, WITH_HOST));
    assertThat(ByteBuffer.wrap(content).getInt()).isEqualTo(0x444B5602);
    assertThat(format.read(content)).containsExactly(ON_DEVICE, WITH_HOST);
  }

  @Test
  void anotherMarkIsRefused() {
    var content = firstVersion();
    content[3] = 3;
    assertThatThrownBy(() -> format.read(content)).isInstanceOf(IOException.class);
  }
}
