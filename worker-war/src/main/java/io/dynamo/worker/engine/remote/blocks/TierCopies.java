package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.kv.StorageTier;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.ObjIntConsumer;

/** Counts the copies of one block in each tier. Used by one thread at a time. */
final class TierCopies {
  private final Map<StorageTier, Integer> counts = new EnumMap<>(StorageTier.class);

  /** Adds a copy; returns whether it is the tier's first. */
  boolean add(StorageTier tier) {
    return counts.merge(tier, 1, Integer::sum) == 1;
  }

  /** Removes a copy; returns false when the tier has none. */
  boolean remove(StorageTier tier) {
    if (!counts.containsKey(tier)) {
      return false;
    }
    counts.computeIfPresent(tier, (_, count) -> count > 1 ? count - 1 : null);
    return true;
  }

  /** Removes all copies of a tier. */
  void removeAll(StorageTier tier) {
    counts.remove(tier);
  }

  /** Leaves one copy in each tier that has any. */
  void reduceToOneEach() {
    counts.replaceAll((_, _) -> 1);
  }

  void clear() {
    counts.clear();
  }

  boolean isIn(StorageTier tier) {
    return counts.containsKey(tier);
  }

  boolean isEmpty() {
    return counts.isEmpty();
  }

  void forEach(ObjIntConsumer<StorageTier> action) {
    counts.forEach(action::accept);
  }
}
