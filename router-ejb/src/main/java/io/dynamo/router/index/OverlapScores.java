package io.dynamo.router.index;

import io.dynamo.kv.WorkerRank;
import java.util.Arrays;
import java.util.StringJoiner;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/** The number of leading blocks of a prompt that each rank has; an absent rank has none. */
public final class OverlapScores {
  /** The scores when no rank has a block. */
  public static final OverlapScores NONE = new Builder(0).build();

  /** Collects the scores of one match. One thread, one use. */
  static final class Builder {
    private final @Nullable WorkerRank[] ranks; // open addressing, at most half full
    private final int[] blocks;
    private int size;

    Builder(int capacity) {
      int slots = Integer.highestOneBit(Math.max(1, 2 * capacity - 1)) << 1;
      ranks = new WorkerRank[slots];
      blocks = new int[slots];
    }

    /** Adds the score of a rank that has none yet; a score of zero is not added. */
    void add(WorkerRank rank, int score) {
      if (score > 0) {
        int slot = slot(ranks, rank);
        ranks[slot] = rank;
        blocks[slot] = score;
        size++;
      }
    }

    OverlapScores build() {
      return new OverlapScores(ranks, blocks, size);
    }
  }

  private final @Nullable WorkerRank[] ranks;
  private final int[] blocks;
  private final int size;

  private OverlapScores(@Nullable WorkerRank[] ranks, int[] blocks, int size) {
    this.ranks = ranks;
    this.blocks = blocks;
    this.size = size;
  }

  private static int slot(@Nullable WorkerRank[] ranks, WorkerRank rank) {
    int mask = ranks.length - 1;
    int hash = rank.hashCode() * 0x9E3779B9;
    int slot = (hash >>> 16) & mask;
    while (ranks[slot] != null && !rank.equals(ranks[slot])) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Returns the number of leading blocks that {@code rank} has. */
  public int blocks(WorkerRank rank) {
    return blocks[slot(ranks, rank)];
  }

  /** Calls {@code to} with each rank that has at least one block, and the number of its blocks. */
  public void forEach(ObjIntConsumer<WorkerRank> to) {
    for (int i = 0; i < ranks.length; i++) {
      var rank = ranks[i];
      if (rank != null) {
        to.accept(rank, blocks[i]);
      }
    }
  }

  /** Returns the number of ranks that have at least one block. */
  public int size() {
    return size;
  }

  @Override
  public boolean equals(Object other) {
    if (!(other instanceof OverlapScores that) || size != that.size) {
      return false;
    }
    for (int i = 0; i < ranks.length; i++) {
      var rank = ranks[i];
      if (rank != null && that.blocks(rank) != blocks[i]) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int hashCode() {
    int sum = size;
    for (int i = 0; i < ranks.length; i++) {
      var rank = ranks[i];
      if (rank != null) {
        sum += rank.hashCode() * 31 + blocks[i];
      }
    }
    return sum;
  }

  @Override
  public String toString() {
    var sorted = new String[size];
    int n = 0;
    for (int i = 0; i < ranks.length; i++) {
      if (ranks[i] != null) {
        sorted[n++] = ranks[i] + "=" + blocks[i];
      }
    }
    Arrays.sort(sorted);
    var joiner = new StringJoiner(", ", "{", "}");
    for (var text : sorted) {
      joiner.add(text);
    }
    return joiner.toString();
  }
}
