package io.dynamo.router.index;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.HashLongMap;
import io.dynamo.token.SequenceHash;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * An index with one table for all ranks, from the hash of a prefix to the set of ranks that have
 * it; a match looks up one prefix after another and narrows the set. Writers are serialised by a
 * lock, readers take none.
 *
 * <p>Engines choose the names of blocks, so each rank has its own map from the engine's name to the
 * prefix's hash. A prefix without owners is in neither the table nor the tree.
 */
public final class PrefixTableIndexer implements KvIndexer {
  private static final class RankState {
    final int slot;
    final HashLongMap prefixByName = new HashLongMap(); // the engine's name -> prefix hash

    RankState(int slot) {
      this.slot = slot;
    }
  }

  private final Object writer = new Object();
  private final Prefix root = new Prefix(0, 0, null);
  private final PrefixTable table = new PrefixTable(); // changed under writer
  private final Map<WorkerRank, RankState> states = new HashMap<>(); // guarded by writer
  // The reverse of prefixByName, prefix hash -> name, of the ranks of keepNames. Changed under
  // writer.
  private final ConcurrentMap<WorkerRank, SharedLongMap> names = new ConcurrentHashMap<>();
  private final ArrayDeque<Prefix> toCut = new ArrayDeque<>(); // guarded by writer

  /** The rank for each bit of an owner set; replaced as a whole under writer. */
  private volatile @Nullable WorkerRank[] slots = {};

  @Override
  public OverlapScores match(BlockHashes request) {
    var ranks = slots; // read before any owner set, so that a bit reused later names no new rank
    int length = request.length();
    if (length == 0) {
      return OverlapScores.NONE;
    }
    var first = table.find(request.sequence(0));
    if (first == null || first.content != request.block(0)) {
      return OverlapScores.NONE;
    }
    var active = first.owners().clone();
    var scores = new OverlapScores.Builder(ranks.length);
    int depth = 1;
    for (; depth < length; depth++) {
      var prefix = table.find(request.sequence(depth));
      if (prefix == null || prefix.content != request.block(depth)) {
        break;
      }
      if (!narrow(active, prefix.owners(), ranks, depth, scores)) {
        return scores.build();
      }
    }
    narrow(active, new long[0], ranks, depth, scores);
    return scores.build();
  }

  /**
   * Keeps in {@code active} the ranks in {@code owners}; the others end with score {@code depth}.
   *
   * @return whether any rank is left
   */
  private static boolean narrow(
      long[] active,
      long[] owners,
      @Nullable WorkerRank[] ranks,
      int depth,
      OverlapScores.Builder scores) {
    long left = 0;
    for (int word = 0; word < active.length; word++) {
      long kept = word < owners.length ? active[word] & owners[word] : 0;
      long ended = active[word] & ~kept;
      while (ended != 0) {
        int slot = (word << 6) + Long.numberOfTrailingZeros(ended);
        var rank = slot < ranks.length ? ranks[slot] : null;
        if (rank != null) {
          scores.add(rank, depth);
        }
        ended &= ended - 1;
      }
      active[word] = kept;
      left |= kept;
    }
    return left != 0;
  }

  @Override
  public Outcome apply(WorkerRank rank, KvEvent event) {
    synchronized (writer) {
      return switch (event) {
        case KvEvent.Stored stored -> store(rank, stored);
        case KvEvent.Removed removed -> remove(rank, removed.blocks());
        case KvEvent.Cleared _ -> {
          clear(rank);
          yield Outcome.OK;
        }
      };
    }
  }

  @Override
  public void forget(InstanceId worker) {
    synchronized (writer) {
      states.keySet().stream()
          .filter(rank -> rank.worker().equals(worker))
          .toList()
          .forEach(this::clear);
      names.keySet().removeIf(rank -> rank.worker().equals(worker));
    }
  }

  /**
   * Returns the name that {@code rank}'s engine gave to the prefix of {@code hash}; null when the
   * rank does not have it, or names are not kept for it.
   */
  @Nullable Long name(WorkerRank rank, long hash) {
    var kept = names.get(rank);
    long name = kept == null ? SharedLongMap.ABSENT : kept.get(hash);
    return name == SharedLongMap.ABSENT ? null : (Long) name;
  }

  /**
   * Keeps the names that {@code rank}'s engine gives, present and later ones, until the rank is
   * cleared or its worker forgotten. Without it {@link #name} returns null. Walks once over all
   * blocks of the rank; for threads that apply events.
   */
  void keepNames(WorkerRank rank) {
    synchronized (writer) {
      if (names.containsKey(rank)) {
        return;
      }
      var kept = new SharedLongMap();
      var state = states.get(rank);
      if (state != null) {
        state.prefixByName.forEach(
            (name, hash) -> {
              var prefix = table.find(hash);
              if (prefix != null && prefix.isOwnedBy(state.slot)) {
                kept.put(hash, name);
              }
            });
      }
      names.put(rank, kept);
    }
  }

  /** Returns the number of distinct prefixes of all ranks; may lag. */
  public int size() {
    synchronized (writer) {
      return table.size();
    }
  }

  private Outcome store(WorkerRank rank, KvEvent.Stored stored) {
    var state = states.get(rank);
    var parent = root;
    var name = stored.parent();
    if (name != null) {
      var held = state == null ? null : held(state, name);
      if (held == null) {
        return Outcome.PARENT_NOT_FOUND;
      }
      parent = held;
    }
    if (stored.blocks().isEmpty()) {
      return Outcome.OK;
    }
    if (state == null) {
      state = new RankState(takeSlot(rank));
      states.put(rank, state);
    }
    var kept = names.get(rank);
    for (var block : stored.blocks()) {
      var prefix = child(parent, block);
      if (prefix == null) {
        return Outcome.HASH_COLLISION;
      }
      prefix.own(state.slot);
      state.prefixByName.put(block.hash().value(), prefix.hash);
      if (kept != null) {
        kept.put(prefix.hash, block.hash().value());
      }
      parent = prefix;
    }
    return Outcome.OK;
  }

  private @Nullable Prefix child(Prefix parent, StoredBlock block) {
    long content = block.content().value();
    long hash = parent == root ? content : BlockHashes.chain(parent.hash, content);
    var known = table.find(hash);
    if (known != null) {
      return known.parent == parent && known.content == content ? known : null;
    }
    var added = new Prefix(hash, content, parent);
    added.linkTo(parent);
    table.add(added);
    return added;
  }

  private @Nullable Prefix held(RankState state, SequenceHash name) {
    if (!state.prefixByName.contains(name.value())) {
      return null;
    }
    var prefix = table.find(state.prefixByName.getOrDefault(name.value(), 0));
    return prefix != null && prefix.isOwnedBy(state.slot) ? prefix : null;
  }

  private Outcome remove(WorkerRank rank, List<SequenceHash> removed) {
    var state = states.get(rank);
    if (state == null) {
      return removed.isEmpty() ? Outcome.OK : Outcome.BLOCK_NOT_FOUND;
    }
    var kept = names.get(rank);
    var outcome = Outcome.OK;
    for (var name : removed) {
      var prefix = held(state, name);
      if (prefix == null) {
        outcome = Outcome.BLOCK_NOT_FOUND;
      } else {
        cut(prefix, state.slot, kept);
      }
      state.prefixByName.remove(name.value());
    }
    return outcome;
  }

  private void clear(WorkerRank rank) {
    names.remove(rank);
    var state = states.remove(rank);
    if (state == null) {
      return;
    }
    for (var child = root.firstChild(); child != null; ) {
      var next = child.nextSibling();
      if (child.isOwnedBy(state.slot)) {
        cut(child, state.slot, null);
      }
      child = next;
    }
    var ranks = slots.clone();
    ranks[state.slot] = null;
    slots = ranks;
  }

  /**
   * Removes {@code top}, which {@code slot} owns, and all prefixes below it that {@code slot} owns.
   *
   * @param kept the names of the rank's prefixes, which lose theirs; null where none are kept
   */
  private void cut(Prefix top, int slot, @Nullable SharedLongMap kept) {
    toCut.push(top);
    while (!toCut.isEmpty()) {
      var prefix = toCut.pop();
      if (kept != null) {
        kept.remove(prefix.hash);
      }
      for (var child = prefix.firstChild(); child != null; child = child.nextSibling()) {
        if (child.isOwnedBy(slot)) {
          toCut.push(child);
        }
      }
      var parent = prefix.parent;
      if (prefix.disown(slot) && parent != null) {
        prefix.unlinkFrom(parent);
        table.remove(prefix);
      }
    }
  }

  private int takeSlot(WorkerRank rank) {
    var ranks = slots;
    int slot = 0;
    while (slot < ranks.length && ranks[slot] != null) {
      slot++;
    }
    var more = Arrays.copyOf(ranks, Math.max(ranks.length, slot + 1));
    more[slot] = rank;
    slots = more;
    return slot;
  }
}
