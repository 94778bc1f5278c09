package io.dynamo.worker.engine.remote.blocks;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.LowerTierSink;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of one rank as a router has them. Fails on reports that a router would not take: of
 * blocks that are there already or not at all, and of blocks on the device without those before
 * them.
 */
final class TierMirror implements KvEventSink, LowerTierSink {
  /** Each block's predecessor, by tier. */
  private final Map<StorageTier, Map<SequenceHash, SequenceHash>> held =
      new EnumMap<>(StorageTier.class);

  private static final SequenceHash ROOT = new SequenceHash(0);

  /** The reports, as text. */
  final List<String> log = new ArrayList<>();

  Set<SequenceHash> in(StorageTier tier) {
    return Set.copyOf(tierOf(tier).keySet());
  }

  private Map<SequenceHash, SequenceHash> tierOf(StorageTier tier) {
    return held.computeIfAbsent(tier, _ -> new HashMap<>());
  }

  @Override
  public void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
    assertThat(parent == null || tierOf(StorageTier.DEVICE).containsKey(parent))
        .as("the predecessor is there")
        .isTrue();
    stored(rank, StorageTier.DEVICE, parent, blocks);
  }

  @Override
  public void stored(
      int rank, StorageTier tier, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
    var before = parent == null ? ROOT : parent;
    for (var block : blocks) {
      assertThat(tierOf(tier).put(block.hash(), before)).as("new block").isNull();
      before = block.hash();
    }
    log.add("+%d %s".formatted(blocks.size(), tier));
  }

  @Override
  public void removed(int rank, List<SequenceHash> blocks) {
    removed(rank, StorageTier.DEVICE, blocks);
  }

  @Override
  public void removed(int rank, StorageTier tier, List<SequenceHash> blocks) {
    for (var block : blocks) {
      assertThat(tierOf(tier).remove(block)).as("known block").isNotNull();
      assertThat(tier == StorageTier.DEVICE && tierOf(tier).containsValue(block))
          .as("blocks behind it are left")
          .isFalse();
    }
    log.add("-%d %s".formatted(blocks.size(), tier));
  }

  @Override
  public void cleared(int rank) {
    held.clear();
    log.add("cleared");
  }
}
