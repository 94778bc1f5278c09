package io.dynamo.worker.engine.remote;

import io.dynamo.kv.EngineKvEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.CacheScope;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.LowerTierSink;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Translates the KV events of one rank of an engine: blocks keep the engine's names, their contents
 * are hashed again as Dynamo does, within their adapter and cache salt. A block that is stored
 * without its tokens, as offloaded ones are, is that which was stored with them under its name; it
 * is held back until then. Blocks in unknown media, of other groups than the first, and with media
 * or after them are left out. Used by one thread at a time.
 */
public final class EngineBlocks {
  private static final System.Logger LOG = System.getLogger(EngineBlocks.class.getName());
  private static final String SALT_PREFIX = "dynamo-cache-salt:";
  private static final int LOGGED_MEDIUM = 64; // characters
  private static final int LEAST_LIMIT = 1 << 20;
  private static final int BLOCKS_PER_DEVICE_BLOCK = 4;

  private final int rank;
  private final int blockTokens;
  private final int maxBlocks;
  private final KvEventSink sink;
  private final @Nullable LowerTierSink below; // null where nobody reads tiers below the device
  private final Map<Long, KnownBlock> known = new HashMap<>(); // by the engine's name
  private CacheScope scope = new CacheScope(null, null); // of hasher
  private BlockHasher hasher;
  private boolean holdsBlocks;
  private boolean warnedOfSize;
  private boolean warnedOfMedium;
  private boolean warnedOfLimit;

  /**
   * @param blockTokens the block size of the worker's model card
   * @param maxBlocks the most blocks of all tiers together; further ones are left out
   * @param sink receives blocks below the device if it is a {@link LowerTierSink}, too
   */
  EngineBlocks(int rank, int blockTokens, int maxBlocks, KvEventSink sink) {
    this.rank = rank;
    this.blockTokens = blockTokens;
    this.maxBlocks = maxBlocks;
    this.sink = sink;
    this.below = sink instanceof LowerTierSink tiers ? tiers : null;
    this.hasher = BlockHasher.of(blockTokens);
  }

  /**
   * Creates the translation of the events of a rank that holds {@link RemoteFacts#totalBlocks} on
   * its device.
   */
  public static EngineBlocks of(int rank, RemoteFacts facts, KvEventSink sink) {
    long wanted = (long) BLOCKS_PER_DEVICE_BLOCK * facts.totalBlocks();
    int limit = Math.clamp(wanted, LEAST_LIMIT, Integer.MAX_VALUE);
    return new EngineBlocks(rank, facts.blockTokens(), limit, sink);
  }

  /**
   * Reports that the rank holds no blocks that are known.
   *
   * @return false when none was reported before, and so nothing now
   */
  public boolean forget() {
    known.clear();
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
      case EngineKvEvent.Stored stored -> {
        var tier = tier(stored.medium(), stored.group());
        if (tier != null && stored.hashes().length > 0) {
          store(tier, stored);
        }
      }
      case EngineKvEvent.Removed removed -> {
        var tier = tier(removed.medium(), removed.group());
        if (tier != null) {
          remove(tier, removed.hashes());
        }
      }
      case EngineKvEvent.Cleared _ -> {
        var _ = forget();
      }
    }
  }

  /**
   * Reports that blocks were removed from all tiers that hold them. A block that is not known
   * counts as one of the device.
   */
  public void removeEverywhere(long[] hashes) {
    for (var tier : StorageTier.values()) { // the device comes first: afterwards some are unknown
      remove(tier, Arrays.stream(hashes).filter(hash -> mayBeIn(tier, hash)).toArray());
    }
  }

  private boolean mayBeIn(StorageTier tier, long hash) {
    var block = known.get(hash);
    return block == null ? tier == StorageTier.DEVICE : block.isIn(tier);
  }

  /** Returns the tier of an event's blocks; null when they are left out. */
  private @Nullable StorageTier tier(@Nullable String medium, @Nullable Long group) {
    var tier = StorageTier.ofMedium(medium);
    if (tier == null) {
      if (!warnedOfMedium) {
        warnedOfMedium = true;
        LOG.log(
            Level.WARNING,
            "rank {0} of the engine has blocks in the unknown medium {1}: they are not routed to",
            rank,
            printable(String.valueOf(medium)));
      }
      return null;
    }
    boolean grouped = tier == StorageTier.DEVICE || tier == StorageTier.HOST_PINNED;
    boolean routed =
        (!grouped || group == null || group == 0) && (tier == StorageTier.DEVICE || below != null);
    return routed ? tier : null;
  }

  private static String printable(String text) {
    var start = text.substring(0, Math.min(text.length(), LOGGED_MEDIUM));
    return start.replaceAll("[^\\x20-\\x7e]", "?");
  }

  private void store(StorageTier tier, EngineKvEvent.Stored event) {
    if (event.blockTokens() != blockTokens) {
      if (!warnedOfSize) {
        warnedOfSize = true;
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
    if (event.tokens().length == 0) {
      storeAgain(tier, event.hashes());
      return;
    }
    var parent = event.parent() == null ? null : known.get(event.parent());
    if (repeats(event)) {
      return;
    }
    if (parent != null && parent.isLeftOut()) {
      leaveOut(tier, event.hashes());
      return;
    }
    var salt = parent == null ? null : parent.salt();
    for (var keys : event.extraKeys()) {
      for (var key : keys) {
        if (!(key instanceof String text)) {
          leaveOut(tier, event.hashes()); // media: their hashes are not those that routers know
          return;
        }
        if (!text.equals(event.adapter())) {
          salt = text.startsWith(SALT_PREFIX) ? text.substring(SALT_PREFIX.length()) : text;
        }
      }
    }
    describe(tier, event, salt);
  }

  /** Whether a block of the event would follow itself. */
  private static boolean repeats(EngineKvEvent.Stored event) {
    var names = new HashSet<Long>();
    if (event.parent() != null) {
      names.add(event.parent());
    }
    for (long hash : event.hashes()) {
      if (!names.add(hash)) {
        return true;
      }
    }
    return false;
  }

  private void describe(StorageTier tier, EngineKvEvent.Stored event, @Nullable String salt) {
    var contents = hasher(event.adapter(), salt).hash(event.tokens());
    var first = event.parent() == null ? null : new SequenceHash(event.parent());
    var parent = first;
    List<StoredBlock> blocks = new ArrayList<>(event.hashes().length);
    List<KnownBlock> heldBack = new ArrayList<>();
    for (int i = 0; i < event.hashes().length; i++) {
      var block = known(event.hashes()[i]);
      if (block == null) {
        break;
      }
      var content = new BlockHash(contents.block(i));
      if (block.stored() == null && !block.isGone()) {
        heldBack.add(block);
      }
      block.describe(parent, content, salt);
      block.addCopy(tier);
      blocks.add(new StoredBlock(block.name, content));
      parent = block.name;
    }
    report(tier, first, blocks);
    heldBack.forEach(block -> reportOthers(block, tier));
  }

  /** Reports a block in the tiers that hold it, but for {@code reported}. */
  private void reportOthers(KnownBlock block, StorageTier reported) {
    var stored = block.stored();
    for (var tier : StorageTier.values()) {
      if (tier != reported && stored != null && block.isIn(tier)) {
        report(tier, block.parent(), List.of(stored));
      }
    }
  }

  /** Stores blocks by their names alone: the tokens are in another event. */
  private void storeAgain(StorageTier tier, long[] hashes) {
    SequenceHash first = null;
    List<StoredBlock> run = new ArrayList<>();
    for (long hash : hashes) {
      var block = known(hash);
      if (block == null) {
        break;
      }
      block.addCopy(tier);
      var stored = block.stored();
      if (stored == null) {
        continue;
      }
      if (!run.isEmpty() && !run.getLast().hash().equals(block.parent())) {
        report(tier, first, run);
        run = new ArrayList<>();
      }
      if (run.isEmpty()) {
        first = block.parent();
      }
      run.add(stored);
    }
    report(tier, first, run);
  }

  /** Returns the block of a name, known from now on; null when there are too many. */
  private @Nullable KnownBlock known(long hash) {
    var block = known.get(hash);
    if (block != null) {
      return block;
    }
    if (known.size() >= maxBlocks) {
      if (!warnedOfLimit) {
        warnedOfLimit = true;
        LOG.log(
            Level.WARNING,
            "rank {0} of the engine reports more than {1} blocks: further ones are not routed to",
            rank,
            maxBlocks);
      }
      return null;
    }
    var added = new KnownBlock(new SequenceHash(hash));
    known.put(hash, added);
    return added;
  }

  private void leaveOut(StorageTier tier, long[] hashes) {
    for (long hash : hashes) {
      var block = known(hash);
      if (block == null) {
        return;
      }
      if (block.stored() == null) { // else its content is known
        block.leaveOut();
      }
      block.addCopy(tier);
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

  private void remove(StorageTier tier, long[] hashes) {
    var removed = new ArrayList<SequenceHash>(hashes.length);
    for (long hash : hashes) {
      var block = known.get(hash);
      if (block == null || block.stored() != null) {
        removed.add(new SequenceHash(hash));
      }
      if (block != null) {
        block.removeCopy(tier);
        if (block.isGone()) {
          known.remove(hash);
        }
      }
    }
    if (removed.isEmpty()) {
      return;
    }
    if (tier == StorageTier.DEVICE) {
      sink.removed(rank, removed);
    } else if (below != null) {
      below.removed(rank, tier, removed);
    }
  }

  private void report(StorageTier tier, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
    if (blocks.isEmpty()) {
      return;
    }
    holdsBlocks = true;
    if (tier == StorageTier.DEVICE) {
      sink.stored(rank, parent, blocks);
    } else if (below != null) {
      below.stored(rank, tier, parent, blocks);
    }
  }
}
