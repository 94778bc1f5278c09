package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.kv.EngineKvEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.CacheScope;
import io.dynamo.worker.engine.KvEventSink;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Translates the KV events of one publisher of a rank: contents are hashed again as Dynamo does,
 * within their adapter and cache salt. Where the publisher is the only one, blocks keep its names;
 * else see {@link MergedBlocks}. A block that is stored without its tokens, as offloaded ones are,
 * is that which was stored with them under its name; it is held back until then, as is one behind a
 * block that is not known yet. Blocks in unknown media, of other groups than the first, and with
 * media or after them are left out. Safe for concurrent use.
 */
public final class EngineBlocks {
  private static final String SALT_PREFIX = "dynamo-cache-salt:";
  private static final int LEAST_LIMIT = 1 << 20;
  private static final int BLOCKS_PER_DEVICE_BLOCK = 4;

  private final int blockTokens;
  private final boolean counted;
  private final BlockOutlet outlet;
  private final Object lock; // guards the outlet, the filter and the next
  private final BlockFilter filter;
  private final KnownBlocks known;
  private final WaitingStores waiting = new WaitingStores(WaitingStores.MAX_TOKENS);
  private CacheScope scope = new CacheScope(null, null); // of hasher
  private BlockHasher hasher;

  /**
   * @param maxBlocks the most blocks of all tiers together; further ones are left out
   * @param counted whether a block that is stored in a tier twice must be removed from it twice
   * @param lock shared by all that use the outlet
   */
  EngineBlocks(
      int rank, int blockTokens, int maxBlocks, boolean counted, BlockOutlet outlet, Object lock) {
    this.blockTokens = blockTokens;
    this.known = new KnownBlocks(rank, maxBlocks);
    this.counted = counted;
    this.outlet = outlet;
    this.lock = lock;
    this.filter = new BlockFilter(rank, blockTokens, outlet);
    this.hasher = BlockHasher.of(blockTokens);
  }

  /**
   * Creates the translation of a rank's only publisher.
   *
   * @param blockTokens the block size of the worker's model card
   * @param deviceBlocks how many blocks the rank holds on its device
   * @param sink receives blocks below the device if it is a {@link
   *     io.dynamo.worker.engine.LowerTierSink}, too
   */
  public static EngineBlocks of(int rank, int blockTokens, int deviceBlocks, KvEventSink sink) {
    return bounded(rank, blockTokens, limit(deviceBlocks), sink);
  }

  /** Creates one with a limit of its own. */
  static EngineBlocks bounded(int rank, int blockTokens, int maxBlocks, KvEventSink sink) {
    return new EngineBlocks(
        rank, blockTokens, maxBlocks, true, new DirectOutlet(rank, sink), new Object());
  }

  /** Returns the most blocks of all tiers of a rank that holds so many on its device. */
  static int limit(int deviceBlocks) {
    long wanted = (long) BLOCKS_PER_DEVICE_BLOCK * deviceBlocks;
    return Math.clamp(wanted, LEAST_LIMIT, Integer.MAX_VALUE);
  }

  /**
   * Reports that the publisher holds no blocks that are known.
   *
   * @return false when none was reported before, and so nothing now
   */
  public boolean forget() {
    synchronized (lock) {
      boolean held = outlet.clear(known.all());
      waiting.clear();
      known.clear();
      return held;
    }
  }

  /** Reports the change that an event is. */
  public void apply(EngineKvEvent event) {
    synchronized (lock) {
      switch (event) {
        case EngineKvEvent.Stored stored -> {
          var tier = filter.tier(stored.medium(), stored.group());
          if (tier != null && stored.hashes().length > 0) {
            store(tier, stored);
            outlet.flush();
          }
        }
        case EngineKvEvent.Removed removed -> {
          var tier = filter.tier(removed.medium(), removed.group());
          if (tier != null) {
            remove(tier, removed.hashes());
          }
        }
        case EngineKvEvent.Cleared _ -> {
          var _ = forget();
        }
      }
    }
  }

  /**
   * Reports that blocks were removed from all tiers that hold them. A block that is not known
   * counts as one of the device.
   */
  public void removeEverywhere(long[] hashes) {
    synchronized (lock) {
      for (var tier : StorageTier.values()) { // the device comes first: afterwards some are unknown
        remove(tier, Arrays.stream(hashes).filter(hash -> mayBeIn(tier, hash)).toArray());
      }
    }
  }

  private boolean mayBeIn(StorageTier tier, long hash) {
    var block = known.get(hash);
    return block == null ? tier == StorageTier.DEVICE : block.isIn(tier);
  }

  private void store(StorageTier tier, EngineKvEvent.Stored event) {
    if (!filter.hasRightSize(event.blockTokens())) {
      return;
    }
    if (event.tokens().length == 0) {
      storeAgain(tier, event.hashes());
      return;
    }
    if (repeats(event)) {
      return;
    }
    switch (place(event)) {
      case Placement.Behind place -> describe(tier, event, place);
      case Placement.None.LEFT_OUT -> leaveOut(tier, event.hashes());
      case Placement.None.UNKNOWN -> {
        storeAgain(tier, event.hashes());
        keep(event);
      }
    }
  }

  private Placement place(EngineKvEvent.Stored event) {
    var parent = event.parent() == null ? null : find(event.parent());
    if (parent != null && parent.isLeftOut()) {
      return Placement.None.LEFT_OUT;
    }
    var behind = parent == null ? null : parent.description();
    var salt = behind == null ? null : behind.salt();
    for (var keys : event.extraKeys()) {
      for (var key : keys) {
        if (!(key instanceof String text)) {
          return Placement.None.LEFT_OUT; // media: their hashes are not those that routers know
        }
        if (!text.equals(event.adapter())) {
          salt = text.startsWith(SALT_PREFIX) ? text.substring(SALT_PREFIX.length()) : text;
        }
      }
    }
    if (event.parent() == null) {
      return new Placement.Behind(null, salt);
    }
    var first =
        behind == null ? outlet.undescribed(new SequenceHash(event.parent())) : behind.name();
    return first == null ? Placement.None.UNKNOWN : new Placement.Behind(first, salt);
  }

  /** Keeps an event until the block before its own is known. */
  private void keep(EngineKvEvent.Stored event) {
    var parent = event.parent();
    for (long hash : event.hashes()) {
      var block = known.get(hash);
      if (block != null && parent != null && (block.isHeldBack() || block.isBorrowed())) {
        waiting.add(parent, event);
        return;
      }
    }
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

  private void describe(StorageTier tier, EngineKvEvent.Stored event, Placement.Behind place) {
    if (known.getOrAdd(event.hashes()[0]) == null) {
      return; // before its tokens are hashed
    }
    var contents = hasher(event.adapter(), place.salt()).hash(event.tokens());
    var parent = place.parent();
    List<KnownBlock> heldBack = new ArrayList<>();
    for (int i = 0; i < event.hashes().length; i++) {
      var block = known.getOrAdd(event.hashes()[i]);
      if (block == null) {
        break;
      }
      var content = new BlockHash(contents.block(i));
      var name = outlet.name(block.name, parent, content);
      var description = new BlockDescription(name, parent, content, place.salt());
      if (!store(block, tier, description, false, heldBack)) {
        break;
      }
      parent = name;
    }
    heldBack.forEach(block -> reportOthers(block, tier));
  }

  /** Describes the blocks of an event that are held back since it arrived. */
  private void describeHeldBack(EngineKvEvent.Stored event, Placement.Behind place) {
    var contents = hasher(event.adapter(), place.salt()).hash(event.tokens());
    var parent = place.parent();
    for (int i = 0; i < event.hashes().length; i++) {
      var own = new SequenceHash(event.hashes()[i]);
      var content = new BlockHash(contents.block(i));
      var name = outlet.name(own, parent, content);
      var block = known.get(own.value());
      var old = block == null || !block.isBorrowed() ? null : block.description();
      if (block != null && old != null && !old.name().equals(name)) {
        retract(block, old);
      }
      if (block != null && block.isHeldBack()) {
        block.describe(new BlockDescription(name, parent, content, place.salt()), false);
        reportHeldBack(block);
        outlet.described(block);
      }
      parent = name;
    }
  }

  /**
   * Stores a copy of a block whose description has arrived.
   *
   * @param borrowed whether the description is that of another publisher's block
   * @param heldBack receives the block when other tiers held it back
   * @return false when it is refused
   */
  private boolean store(
      KnownBlock block,
      StorageTier tier,
      BlockDescription description,
      boolean borrowed,
      List<KnownBlock> heldBack) {
    var old = block.description();
    if (old != null && !old.name().equals(description.name())) {
      retract(block, old);
      old = null;
    }
    if (old != null && !counted && block.isIn(tier)) {
      block.describe(description, borrowed);
      return true;
    }
    if (!outlet.store(tier, description)) {
      known.removeIfGone(block);
      return false;
    }
    if (old == null && !block.isGone()) {
      block.copies.removeAll(tier);
      block.copies.reduceToOneEach();
      heldBack.add(block);
    }
    block.describe(description, borrowed);
    block.copies.add(tier);
    if (old == null) {
      outlet.described(block);
    }
    return true;
  }

  /**
   * Removes the copies of a block that is another one than it was: the publisher reuses its name,
   * or the name is that of another block at the other publisher, and then the copies are left.
   */
  private void retract(KnownBlock block, BlockDescription old) {
    block.copies.forEach(
        (tier, copies) -> {
          for (int i = 0; i < copies; i++) {
            outlet.remove(tier, List.of(old.name()));
          }
        });
    if (block.isBorrowed()) {
      block.undescribe();
    } else {
      block.reset();
    }
  }

  /** Reports a block in the tiers that hold it, but for {@code reported}. */
  private void reportOthers(KnownBlock block, @Nullable StorageTier reported) {
    var description = block.description();
    for (var tier : StorageTier.values()) {
      if (tier != reported && description != null && block.isIn(tier)) {
        outlet.store(tier, description);
      }
    }
  }

  /** Stores blocks by their names alone: the tokens are in another event. */
  private void storeAgain(StorageTier tier, long[] hashes) {
    List<KnownBlock> heldBack = new ArrayList<>();
    for (long hash : hashes) {
      var block = known.getOrAdd(hash);
      if (block == null) {
        break;
      }
      var description = block.description();
      boolean borrowed = block.isBorrowed();
      if (block.isHeldBack()) {
        var twin = outlet.twin(this, block.name);
        description = twin == null ? null : twin.description();
        borrowed = true;
      }
      if (description != null) {
        store(block, tier, description, borrowed, heldBack);
      } else if (counted || !block.isIn(tier)) {
        block.copies.add(tier);
      }
    }
    heldBack.forEach(block -> reportOthers(block, tier));
  }

  /** Returns the block of a publisher's name, its own or another's; null when it is unknown. */
  private @Nullable KnownBlock find(long name) {
    var block = known.get(name);
    return block != null && (block.description() != null || block.isLeftOut())
        ? block
        : outlet.twin(this, new SequenceHash(name));
  }

  /** Returns the block of the publisher's name if it has a description; else null. */
  @Nullable KnownBlock describedBlock(SequenceHash name) {
    var block = known.get(name.value());
    return block == null || block.description() == null ? null : block;
  }

  /**
   * Takes over the description of another publisher's block, where one of its name is held back,
   * and describes the blocks that wait for it.
   *
   * @param described a block of this or another publisher
   */
  void learn(KnownBlock described) {
    var block = known.get(described.name.value());
    var description = described.description();
    if (description == null) {
      return;
    }
    if (block != null && block != described && block.isHeldBack()) {
      block.describe(description, true);
      reportHeldBack(block);
    }
    for (var event : waiting.take(described.name.value())) {
      if (place(event) instanceof Placement.Behind place) {
        describeHeldBack(event, place);
      }
    }
  }

  private void reportHeldBack(KnownBlock block) {
    block.copies.reduceToOneEach();
    reportOthers(block, null);
  }

  private void leaveOut(StorageTier tier, long[] hashes) {
    for (long hash : hashes) {
      var block = known.getOrAdd(hash);
      if (block == null) {
        return;
      }
      if (block.description() != null) { // its content is known
        storeAgain(tier, new long[] {hash});
      } else {
        block.leaveOut();
        block.copies.add(tier);
      }
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
      if (block == null) {
        var name = outlet.undescribed(new SequenceHash(hash));
        if (name != null) {
          removed.add(name);
        }
      } else if (block.copies.remove(tier)) {
        var description = block.description();
        if (description != null) {
          removed.add(description.name());
        }
        known.removeIfGone(block);
      }
    }
    if (!removed.isEmpty()) {
      outlet.remove(tier, removed);
    }
  }
}
