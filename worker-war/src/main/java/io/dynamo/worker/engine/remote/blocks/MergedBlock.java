package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.token.SequenceHash;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A block with the copies that all publishers of a rank hold. The blocks that are reported as on
 * the device form a tree, as they do at routers: each is linked to its children, in a
 * null-terminated list of siblings. Used by one thread at a time.
 */
final class MergedBlock {
  final BlockDescription description;
  final TierCopies copies = new TierCopies();
  private boolean reachable; // reported as on the device
  private @Nullable MergedBlock parent; // in the tree
  private @Nullable MergedBlock firstChild;
  private @Nullable MergedBlock before;
  private @Nullable MergedBlock after;

  MergedBlock(BlockDescription description) {
    this.description = description;
  }

  /** Whether the other has the same place and content. */
  boolean matches(BlockDescription other) {
    return description.content().equals(other.content())
        && (description.parent() == null
            ? other.parent() == null
            : description.parent().equals(other.parent()));
  }

  /** Whether it is in the tree. */
  boolean isReachable() {
    return reachable;
  }

  /**
   * Adds it to the tree.
   *
   * @param behind the block before it, which is in the tree; null for the first of a sequence
   */
  void link(@Nullable MergedBlock behind) {
    reachable = true;
    parent = behind;
    if (behind != null) {
      after = behind.firstChild;
      if (after != null) {
        after.before = this;
      }
      behind.firstChild = this;
    }
  }

  /** Takes it and all behind it out of the tree; adds their names to {@code names}, it last. */
  void cut(List<SequenceHash> names) {
    if (!reachable) {
      return;
    }
    unlink();
    var parentsFirst = new ArrayDeque<MergedBlock>();
    var waiting = new ArrayDeque<MergedBlock>();
    waiting.push(this);
    while (!waiting.isEmpty()) {
      var block = waiting.pop();
      parentsFirst.push(block);
      for (var child = block.firstChild; child != null; child = child.after) {
        waiting.push(child);
      }
    }
    for (var block : parentsFirst) { // the last pushed first: children before their parents
      names.add(block.description.name());
      block.reachable = false;
      block.parent = null;
      block.firstChild = null;
      block.before = null;
      block.after = null;
    }
  }

  private void unlink() {
    if (before != null) {
      before.after = after;
    } else if (parent != null) {
      parent.firstChild = after;
    }
    if (after != null) {
      after.before = before;
    }
    before = null;
    after = null;
  }
}
