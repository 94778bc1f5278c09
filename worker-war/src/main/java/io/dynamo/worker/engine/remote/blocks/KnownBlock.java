package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.kv.StorageTier;
import io.dynamo.token.SequenceHash;
import org.jspecify.annotations.Nullable;

/**
 * A block that one publisher holds in some tiers, by the publisher's name. Its place and content
 * are unknown until an event with its tokens arrives: until then it is held back. All copies of a
 * block with a description are reported, and no others. Used by one thread at a time.
 */
final class KnownBlock {
  final SequenceHash name;
  final TierCopies copies = new TierCopies();
  private @Nullable BlockDescription description;
  private boolean borrowed;
  private boolean leftOut;

  KnownBlock(SequenceHash name) {
    this.name = name;
  }

  /** Returns the block as routers know it; null while that is unknown, or of no use to them. */
  @Nullable BlockDescription description() {
    return description;
  }

  /**
   * Gives it a description.
   *
   * @param borrowed whether the description is that of another publisher's block of the same name
   */
  void describe(BlockDescription description, boolean borrowed) {
    this.description = description;
    this.borrowed = borrowed;
    this.leftOut = false;
  }

  /** Forgets its description; the copies are held back from then on. */
  void undescribe() {
    description = null;
    borrowed = false;
  }

  /** Marks it as one that routers cannot ask for. */
  void leaveOut() {
    undescribe();
    leftOut = true;
  }

  /** Forgets its description and copies. */
  void reset() {
    undescribe();
    leftOut = false;
    copies.clear();
  }

  /** Whether its description is that of another publisher's block of the same name. */
  boolean isBorrowed() {
    return borrowed;
  }

  /** Whether it may be described yet. */
  boolean isHeldBack() {
    return description == null && !leftOut;
  }

  boolean isLeftOut() {
    return leftOut;
  }

  boolean isIn(StorageTier tier) {
    return copies.isIn(tier);
  }

  /** Whether no tier holds it. */
  boolean isGone() {
    return copies.isEmpty();
  }
}
