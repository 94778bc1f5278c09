package io.dynamo.worker.engine.remote;

import io.dynamo.kv.EngineKvEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.CacheScope;
import io.dynamo.worker.engine.KvEventSink;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Translates the KV events of one rank of an engine: blocks keep the engine's names, their contents
 * are hashed again as Dynamo does, within their adapter and cache salt. Blocks below the device, of
 * other groups than the first, and with media or after them are left out. Used by one thread at a
 * time.
 */
public final class EngineBlocks {
  private static final System.Logger LOG = System.getLogger(EngineBlocks.class.getName());
  private static final String DEVICE = "GPU"; // also of an engine that runs on a CPU
  private static final String SALT_PREFIX = "dynamo-cache-salt:";

  private final int rank;
  private final int blockTokens;
  private final KvEventSink sink;
  private final Map<Long, String> salts = new HashMap<>(); // by block, where there is one
  private final Set<Long> leftOut = new HashSet<>(); // blocks with media, or after them
  private CacheScope scope = new CacheScope(null, null); // of hasher
  private BlockHasher hasher;
  private boolean holdsBlocks;
  private boolean warned;

  /**
   * @param blockTokens the block size of the worker's model card
   */
  public EngineBlocks(int rank, int blockTokens, KvEventSink sink) {
    this.rank = rank;
    this.blockTokens = blockTokens;
    this.sink = sink;
    this.hasher = BlockHasher.of(blockTokens);
  }

  /**
   * Reports that the rank holds no blocks that are known.
   *
   * @return false when none was reported before, and so nothing now
   */
  public boolean forget() {
    salts.clear();
    leftOut.clear();
    boolean held = holdsBlocks;
    if (held) {
      holdsBlocks = false;
      sink.cleared(rank);
    }
    return held;
  }

  /** Reports the change that an event is. */
  public void apply(EngineKvEvent event) {
    switch (event) {
      case EngineKvEvent.Stored stored -> store(stored);
      case EngineKvEvent.Removed removed -> {
        if (isRouted(removed.medium(), removed.group())) {
          remove(removed.hashes());
        }
      }
      case EngineKvEvent.Cleared _ -> {
        var _ = forget();
      }
    }
  }

  private static boolean isRouted(@Nullable String medium, @Nullable Long group) {
    return (medium == null || medium.equals(DEVICE)) && (group == null || group == 0);
  }

  private void store(EngineKvEvent.Stored event) {
    if (!isRouted(event.medium(), event.group()) || event.hashes().length == 0) {
      return;
    }
    if (event.blockTokens() != blockTokens) {
      if (!warned) {
        warned = true;
        LOG.log(
            Level.WARNING,
            "rank {0} of the engine stores blocks of {1} tokens, its card says {2}: they are not"
                + " routed to",
            rank,
            event.blockTokens(),
            blockTokens);
      }
      return;
    }
    var parent = event.parent();
    if (parent != null && leftOut.contains(parent)) {
      leaveOut(event.hashes());
      return;
    }
    var salt = parent == null ? null : salts.get(parent);
    for (var keys : event.extraKeys()) {
      for (var key : keys) {
        if (!(key instanceof String text)) {
          leaveOut(event.hashes()); // media: their hashes are not those that routers know
          return;
        }
        if (!text.equals(event.adapter())) {
          salt = text.startsWith(SALT_PREFIX) ? text.substring(SALT_PREFIX.length()) : text;
        }
      }
    }
    var hashes = hasher(event.adapter(), salt).hash(event.tokens());
    List<StoredBlock> blocks = new ArrayList<>(event.hashes().length);
    for (int i = 0; i < event.hashes().length; i++) {
      long name = event.hashes()[i];
      blocks.add(new StoredBlock(new SequenceHash(name), new BlockHash(hashes.block(i))));
      if (salt != null) {
        salts.put(name, salt);
      }
    }
    holdsBlocks = true;
    sink.stored(rank, parent == null ? null : new SequenceHash(parent), blocks);
  }

  private void leaveOut(long[] hashes) {
    for (long hash : hashes) {
      leftOut.add(hash);
    }
  }

  private BlockHasher hasher(@Nullable String adapter, @Nullable String salt) {
    var wanted = new CacheScope(adapter, salt);
    if (!wanted.equals(scope)) {
      scope = wanted;
      hasher = BlockHasher.of(blockTokens, adapter, salt);
    }
    return hasher;
  }

  private void remove(long[] hashes) {
    var removed = new ArrayList<SequenceHash>(hashes.length);
    for (long hash : hashes) {
      salts.remove(hash);
      if (!leftOut.remove(hash)) {
        removed.add(new SequenceHash(hash));
      }
    }
    if (!removed.isEmpty()) {
      sink.removed(rank, removed);
    }
  }
}
