package io.dynamo.kv;

import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The cached blocks of one rank as a tree, in the state that a router has after every event. A
 * block whose predecessor was removed counts as removed too, and one whose predecessor is not held
 * is not added. Used by one thread at a time.
 */
public final class HeldBlocks {
  /** A child of {@code parent}, linked to its siblings in a null-terminated list. */
  private static final class Block {
    final StoredBlock stored;
    final @Nullable Block parent; // null for the root alone
    @Nullable Block firstChild;
    @Nullable Block before;
    @Nullable Block after;

    Block(StoredBlock stored, @Nullable Block parent) {
      this.stored = stored;
      this.parent = parent;
    }
  }

  private Map<SequenceHash, Block> byHash = new HashMap<>();
  private Block root = newRoot();

  private static Block newRoot() {
    return new Block(new StoredBlock(new SequenceHash(0), new BlockHash(0)), null);
  }

  public int size() {
    return byHash.size();
  }

  public void apply(KvEvent event) {
    switch (event) {
      case KvEvent.Stored stored -> store(stored);
      case KvEvent.Removed removed -> removed.blocks().forEach(this::remove);
      case KvEvent.Cleared _ -> {
        byHash = new HashMap<>(); // clearing a large one takes time whenever it is done
        root = newRoot();
      }
    }
  }

  private void store(KvEvent.Stored event) {
    var parent = event.parent() == null ? root : byHash.get(event.parent());
    for (var stored : event.blocks()) {
      if (parent == null) {
        return;
      }
      parent = child(parent, stored);
    }
  }

  /** Returns the block as a child of {@code parent}; null when that is impossible. */
  private @Nullable Block child(Block parent, StoredBlock stored) {
    var known = byHash.get(stored.hash());
    if (known != null) {
      if (known.parent == parent && known.stored.content().equals(stored.content())) {
        return known;
      }
      remove(stored.hash()); // the engine reuses the name
      if (parent != root && byHash.get(parent.stored.hash()) != parent) {
        return null; // a block cannot follow itself
      }
    }
    var added = new Block(stored, parent);
    added.after = parent.firstChild;
    if (parent.firstChild != null) {
      parent.firstChild.before = added;
    }
    parent.firstChild = added;
    byHash.put(stored.hash(), added);
    return added;
  }

  private void remove(SequenceHash hash) {
    var top = byHash.get(hash);
    if (top == null) {
      return;
    }
    unlink(top);
    var cut = new ArrayDeque<Block>();
    cut.push(top);
    while (!cut.isEmpty()) {
      var block = cut.pop();
      byHash.remove(block.stored.hash());
      for (var child = block.firstChild; child != null; child = child.after) {
        cut.push(child);
      }
    }
  }

  private static void unlink(Block block) {
    if (block.before != null) {
      block.before.after = block.after;
    } else if (block.parent != null) {
      block.parent.firstChild = block.after;
    }
    if (block.after != null) {
      block.after.before = block.before;
    }
  }

  /**
   * Returns all blocks as stored events from the root on, parents first; a run of blocks without a
   * fork is one event. Their ids count from 0.
   */
  public List<RankEvent> dump(WorkerRank rank) {
    var events = new ArrayList<RankEvent>();
    var parents = new ArrayDeque<Block>();
    parents.add(root);
    for (var parent = parents.poll(); parent != null; parent = parents.poll()) {
      for (var child = parent.firstChild; child != null; child = child.after) {
        var run = new ArrayList<StoredBlock>();
        var last = child;
        run.add(last.stored);
        for (var next = last.firstChild;
            next != null && next.after == null;
            next = last.firstChild) {
          run.add(next.stored);
          last = next;
        }
        var of = parent == root ? null : parent.stored.hash();
        events.add(new RankEvent(rank, new KvEvent.Stored(events.size(), of, run)));
        if (last.firstChild != null) {
          parents.add(last);
        }
      }
    }
    return events;
  }
}
