package io.dynamo.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class HeldTiersTest {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);
  private static final int COLLISIONS = 100_000;

  private final HeldTiers held = new HeldTiers();

  private static KvEvent stored(List<SequenceHash> names) {
    return new KvEvent.Stored(
        1,
        null,
        names.stream().map(name -> new StoredBlock(name, new BlockHash(name.value()))).toList());
  }

  private List<StorageTier> tiers() {
    return held.dump(RANK).stream().map(RankEvent::tier).distinct().toList();
  }

  @Test
  void aClearOfATierBelowTheDeviceIsOneOfThatTier() {
    for (var tier : StorageTier.values()) {
      held.apply(tier, stored(List.of(new SequenceHash(7))));
    }
    held.apply(StorageTier.DISK, new KvEvent.Cleared(2));
    assertThat(tiers())
        .containsExactly(StorageTier.DEVICE, StorageTier.HOST_PINNED, StorageTier.EXTERNAL);
    held.apply(StorageTier.DEVICE, new KvEvent.Cleared(3));
    assertThat(tiers()).isEmpty();
  }

  @Test
  @Timeout(15)
  void namesOfOneHashCodeTakeNoLongerThanOthers() {
    var names =
        IntStream.range(0, COLLISIONS)
            .mapToObj(i -> new SequenceHash(((long) i << Integer.SIZE) | i))
            .toList();
    assertThat(names.stream().map(SequenceHash::hashCode).distinct()).hasSize(1);
    for (var tier : List.of(StorageTier.DEVICE, StorageTier.DISK)) {
      held.apply(tier, stored(names));
      held.apply(tier, new KvEvent.Removed(2, names.reversed()));
    }
    assertThat(tiers()).isEmpty();
  }
}
