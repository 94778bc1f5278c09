package io.dynamo.router.index;

import org.jspecify.annotations.Nullable;

/**
 * A block in the tree of prefixes: its content after all blocks before it, and the ranks that have
 * it. The links are accessed by the writer only; {@link #owners} is replaced as a whole and read by
 * any thread.
 */
final class Prefix {
  private static final long[] NOBODY = {};

  final long hash; // the sequence hash: content chained to the parent's
  final long content;
  final @Nullable Prefix parent; // null only for the root
  private @Nullable Prefix firstChild;
  private @Nullable Prefix nextSibling;
  private @Nullable Prefix previousSibling;
  private volatile long[] owners = NOBODY; // bit set of slots

  Prefix(long hash, long content, @Nullable Prefix parent) {
    this.hash = hash;
    this.content = content;
    this.parent = parent;
  }

  /** Returns the slots of the ranks that have this block, as a bit set; not to be changed. */
  long[] owners() {
    return owners;
  }

  boolean isOwnedBy(int slot) {
    var bits = owners;
    int word = slot >>> 6;
    return word < bits.length && (bits[word] & (1L << slot)) != 0;
  }

  void own(int slot) {
    if (!isOwnedBy(slot)) {
      var bits = owners;
      var more = new long[Math.max(bits.length, (slot >>> 6) + 1)];
      System.arraycopy(bits, 0, more, 0, bits.length);
      more[slot >>> 6] |= 1L << slot;
      owners = more;
    }
  }

  /**
   * Removes {@code slot}, which owns this block, from the owners.
   *
   * @return whether no owner is left
   */
  boolean disown(int slot) {
    var less = owners.clone();
    less[slot >>> 6] &= ~(1L << slot);
    long any = 0;
    for (long word : less) {
      any |= word;
    }
    owners = any == 0 ? NOBODY : less;
    return any == 0;
  }

  @Nullable Prefix firstChild() {
    return firstChild;
  }

  @Nullable Prefix nextSibling() {
    return nextSibling;
  }

  void linkTo(Prefix above) {
    nextSibling = above.firstChild;
    if (nextSibling != null) {
      nextSibling.previousSibling = this;
    }
    above.firstChild = this;
  }

  void unlinkFrom(Prefix above) {
    if (previousSibling == null) {
      above.firstChild = nextSibling;
    } else {
      previousSibling.nextSibling = nextSibling;
    }
    if (nextSibling != null) {
      nextSibling.previousSibling = previousSibling;
    }
  }
}
