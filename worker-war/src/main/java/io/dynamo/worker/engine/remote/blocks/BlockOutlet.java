package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.kv.StorageTier;
import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Receives the blocks of one rank from the translations of its publishers, and gives them their
 * names for routers. Used by one thread at a time.
 */
interface BlockOutlet {
  /** Whether blocks of that tier are reported at all. */
  boolean takes(StorageTier tier);

  /**
   * Returns the name for routers of a block that follows {@code parent}.
   *
   * @param name the publisher's name
   */
  SequenceHash name(SequenceHash name, @Nullable SequenceHash parent, BlockHash content);

  /**
   * Returns the name for routers of a block that its publisher has not described.
   *
   * @param name the publisher's name
   * @return null when there is none
   */
  @Nullable SequenceHash undescribed(SequenceHash name);

  /**
   * Returns a block of that name that another publisher has described.
   *
   * @param asking the translation that does not know it
   */
  @Nullable KnownBlock twin(EngineBlocks asking, SequenceHash name);

  /** Called when a block was described; {@link #flush} describes those that wait for it. */
  void described(KnownBlock block);

  /** Adds a copy of a block; returns false when that is refused. Reported by {@link #flush}. */
  boolean store(StorageTier tier, BlockDescription block);

  /** Reports that blocks have one copy less in a tier; they may be unknown. */
  void remove(StorageTier tier, List<SequenceHash> names);

  /**
   * Reports that a publisher holds nothing.
   *
   * @param known all that it held until now
   * @return false when none of it was reported
   */
  boolean clear(Collection<KnownBlock> known);

  /** Describes the blocks that can be, and reports what was stored and is not reported yet. */
  void flush();
}
