package io.dynamo.worker.engine.remote;

import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A block that an engine holds in some tiers, by the engine's name. Its place and content are
 * unknown until an event with its tokens arrives. Used by one thread at a time.
 */
final class KnownBlock {
  final SequenceHash name;
  private final Map<StorageTier, Integer> copies = new EnumMap<>(StorageTier.class);
  private @Nullable SequenceHash parent;
  private @Nullable BlockHash content; // null: unknown, or nothing that routers could ask for
  private @Nullable String salt;
  private boolean leftOut;

  KnownBlock(SequenceHash name) {
    this.name = name;
  }

  /** Sets the place and content of the block. */
  void describe(@Nullable SequenceHash parent, BlockHash content, @Nullable String salt) {
    this.parent = parent;
    this.content = content;
    this.salt = salt;
    this.leftOut = false;
  }

  /** Marks it as one that routers cannot ask for. */
  void leaveOut() {
    parent = null;
    content = null;
    salt = null;
    leftOut = true;
  }

  boolean isLeftOut() {
    return leftOut;
  }

  @Nullable SequenceHash parent() {
    return parent;
  }

  @Nullable String salt() {
    return salt;
  }

  /** Returns the block as routers know it; null while that is unknown. */
  @Nullable StoredBlock stored() {
    return content == null ? null : new StoredBlock(name, content);
  }

  void addCopy(StorageTier tier) {
    copies.merge(tier, 1, Integer::sum);
  }

  void removeCopy(StorageTier tier) {
    copies.computeIfPresent(tier, (_, count) -> count > 1 ? count - 1 : null);
  }

  boolean isIn(StorageTier tier) {
    return copies.containsKey(tier);
  }

  /** Whether no tier holds it. */
  boolean isGone() {
    return copies.isEmpty();
  }
}
