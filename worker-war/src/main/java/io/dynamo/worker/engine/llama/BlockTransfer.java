package io.dynamo.worker.engine.llama;

import io.dynamo.concurrent.Deadline;
import io.dynamo.token.BlockHasher;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferClient.Priority;
import io.dynamo.worker.engine.KvBlocks;
import io.dynamo.worker.engine.KvLayout;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Copies KV blocks out of ranks and into them in the background: the rank's thread only says which,
 * and goes on with its passes. Blocks stay held until no copy touches them any more. Safe for
 * concurrent use.
 */
final class BlockTransfer {
  private final HostMemory memory;
  private final KvLayout layout;
  private final BlockHasher hasher;

  BlockTransfer(HostMemory memory, KvLayout layout, BlockHasher hasher) {
    this.memory = memory;
    this.layout = layout;
    this.hasher = hasher;
  }

  /**
   * Blocks that are held for a copy.
   *
   * @param table holds them
   * @param blocks first to last, and the checksum of each
   * @param store the rank's bytes
   */
  private record HeldSequence(
      BlockTable table, int[] tokens, int[] blocks, int[] checksums, KvStore store) {
    static HeldSequence of(BlockPool pool, BlockTable table, int[] tokens) {
      var blocks = table.held();
      var checksums = new int[blocks.length];
      for (int i = 0; i < blocks.length; i++) {
        checksums[i] = pool.checksum(blocks[i]);
      }
      return new HeldSequence(table, tokens, blocks, checksums, pool.store());
    }
  }

  /** Blocks to fill; {@code missing} are their places in the sequence. */
  private record TakenBlocks(BlockTable table, int[] blocks, int[] missing, KvStore store) {}

  /** Copies the cached leading blocks of {@code tokens}; null when there is none. */
  @Nullable KvBlocks exportCached(LlamaRank rank, int[] tokens, Deadline deadline)
      throws InterruptedException {
    return export(
        rank,
        pool -> {
          var table = new BlockTable(pool, hasher);
          table.holdCached(tokens);
          return HeldSequence.of(pool, table, tokens);
        },
        deadline);
  }

  /** Copies the full blocks of a generation; null when it is not there, or has none. */
  @Nullable KvBlocks exportRunning(
      LlamaRank rank, Function<LlamaRank, @Nullable LlamaGeneration> find, Deadline deadline)
      throws InterruptedException {
    return export(
        rank,
        pool -> {
          var table = new BlockTable(pool, hasher);
          var generation = find.apply(rank);
          if (generation == null) {
            return HeldSequence.of(pool, table, new int[0]);
          }
          table.shareWith(generation.table);
          return HeldSequence.of(pool, table, generation.tokensSoFar());
        },
        deadline);
  }

  private @Nullable KvBlocks export(
      LlamaRank rank, Function<BlockPool, HeldSequence> hold, Deadline deadline)
      throws InterruptedException {
    var held = RankTask.call(rank, hold, (_, late) -> late.table.release(), deadline);
    if (held.blocks.length == 0) {
      return null;
    }
    Region copies;
    Transfer copying;
    try {
      copies = memory.allocate(held.blocks.length * layout.blockBytes());
    } catch (RuntimeException failure) {
      RankTask.release(rank, held.table);
      throw failure;
    }
    var batch = new CopyBatch();
    for (int i = 0; i < held.blocks.length; i++) {
      batch.add(held.store.at(held.blocks[i], 0), i * layout.blockBytes(), layout.blockBytes());
    }
    try {
      copying =
          memory.transfers().copy(held.store.region(), copies, batch, Priority.OFFLOAD, deadline);
    } catch (RuntimeException failure) {
      copies.close();
      RankTask.release(rank, held.table);
      throw failure;
    }
    var _ = copying.outcome().whenComplete((_, _) -> RankTask.release(rank, held.table));
    try {
      copying.await(deadline);
      return new KvBlocks(layout, held.tokens, held.checksums, copies);
    } catch (RuntimeException | InterruptedException failure) {
      copying.cancel();
      copies.close();
      throw failure;
    }
  }

  /**
   * Caches blocks that were computed elsewhere and are intact.
   *
   * @return the number of blocks that were not cached before
   */
  int load(LlamaRank rank, KvBlocks from, Deadline deadline) throws InterruptedException {
    var taken =
        RankTask.call(rank, pool -> take(pool, from), (_, late) -> late.table.release(), deadline);
    var batch = new CopyBatch();
    for (int i : taken.missing) {
      batch.add(i * layout.blockBytes(), taken.store.at(taken.blocks[i], 0), layout.blockBytes());
    }
    Transfer copying;
    try {
      copying =
          memory
              .transfers()
              .copy(from.bytes(), taken.store.region(), batch, Priority.ONBOARD, deadline);
    } catch (RuntimeException failure) {
      RankTask.release(rank, taken.table);
      throw failure;
    }
    try {
      copying.await(deadline);
    } catch (RuntimeException | InterruptedException failure) {
      copying.cancel();
      var _ = copying.outcome().whenComplete((_, _) -> RankTask.release(rank, taken.table));
      throw failure;
    }
    return RankTask.callAlways(
        rank,
        _ -> {
          try {
            return taken.table.sealFilled(from.tokens(), taken.missing);
          } finally {
            taken.table.release();
          }
        },
        deadline);
  }

  private TakenBlocks take(BlockPool pool, KvBlocks from) {
    var table = new BlockTable(pool, hasher);
    try {
      var missing = table.takeFor(from.tokens(), from.count());
      return new TakenBlocks(table, table.held(), missing, pool.store());
    } catch (RuntimeException failure) {
      table.release();
      throw failure;
    }
  }
}
