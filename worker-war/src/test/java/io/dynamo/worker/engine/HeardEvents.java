package io.dynamo.worker.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.token.SequenceHash;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Records the events of one rank's cache: the names that are present on the device now, and every
 * event as text.
 */
public final class HeardEvents implements KvEventSink, LowerTierSink {
  private final Set<SequenceHash> present = new HashSet<>();
  private final List<String> log = new ArrayList<>();

  @Override
  public synchronized void stored(
      int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
    assertThat(parent == null || present.contains(parent)).as("parent is there").isTrue();
    blocks.forEach(block -> assertThat(present.add(block.hash())).as("new block").isTrue());
    log.add("stored " + blocks.size() + " on " + rank);
  }

  @Override
  public synchronized void removed(int rank, List<SequenceHash> blocks) {
    blocks.forEach(block -> assertThat(present.remove(block)).as("known block").isTrue());
    log.add("removed " + blocks.size() + " on " + rank);
  }

  @Override
  public synchronized void stored(
      int rank, StorageTier tier, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
    log.add("stored %s after %s in %s".formatted(names(blocks), parent, tier));
  }

  private static List<SequenceHash> names(List<StoredBlock> blocks) {
    return blocks.stream().map(StoredBlock::hash).toList();
  }

  @Override
  public synchronized void removed(int rank, StorageTier tier, List<SequenceHash> blocks) {
    log.add("removed %s from %s".formatted(blocks, tier));
  }

  @Override
  public synchronized void cleared(int rank) {
    present.clear();
    log.add("cleared " + rank);
  }

  public synchronized Set<SequenceHash> present() {
    return Set.copyOf(present);
  }

  public synchronized List<String> log() {
    return List.copyOf(log);
  }
}
