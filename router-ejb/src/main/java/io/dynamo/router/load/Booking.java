package io.dynamo.router.load;

import java.util.Arrays;

/**
 * The load of one request on one rank. Safe for concurrent use; each part is released exactly once,
 * by the first of three: the request, the end of the worker, or the expiry that guards against
 * leaks.
 */
public final class Booking implements AutoCloseable {
  /**
   * The least decrease of a block's weight that is applied, because each update walks over all
   * blocks.
   */
  private static final double WEIGHT_STEP = 1.0 / 16;

  private final ActiveSequences owner;
  final RankBookings load;
  final Work work;
  final long bookedAtNanos;
  private final int candidate;
  private final long tokensToPrefill;
  private boolean prefilled; // guarded by the owner's lock
  private int generated; // tokens; guarded by the owner's lock
  private long[] output = {}; // made-up hashes of generated blocks; guarded by the owner's lock
  private int outputs; // blocks in output; guarded by the owner's lock
  private double weight = 1; // of each block, after the latest fading; guarded by the owner's lock
  private boolean freed; // guarded by the owner's lock

  Booking(
      ActiveSequences owner,
      RankBookings load,
      int candidate,
      Work work,
      long tokensToPrefill,
      long bookedAtNanos) {
    this.owner = owner;
    this.load = load;
    this.candidate = candidate;
    this.work = work;
    this.tokensToPrefill = tokensToPrefill;
    this.bookedAtNanos = bookedAtNanos;
  }

  /** Returns the index of the chosen candidate. */
  public int candidate() {
    return candidate;
  }

  /** Returns the number of prompt tokens that the candidate was believed not to have cached. */
  public long tokensToPrefill() {
    return tokensToPrefill;
  }

  /** Records that the first token is out: the prompt no longer counts as load. Idempotent. */
  public void prefillDone() {
    owner.prefillDone(this);
  }

  /** Records that {@code tokens} more tokens are out. Takes no lock where output does not count. */
  public void generated(int tokens) {
    if (work.countsOutput()) {
      owner.generated(this, tokens);
    }
  }

  /** Releases the whole booking. Idempotent. */
  @Override
  public void close() {
    owner.free(this);
  }

  /** Releases the prefill load and returns whether there was any. Called under the owner's lock. */
  boolean releasePrefill() {
    if (prefilled) {
      return false;
    }
    prefilled = true;
    load.prefilled(tokensToPrefill);
    return tokensToPrefill > 0;
  }

  /** Adds {@code tokens} generated tokens and fades the weight. Called under the owner's lock. */
  void grow(int tokens) {
    if (freed) {
      return;
    }
    int before = blocks();
    generated += tokens;
    for (int i = blocks() - before; i > 0; i--) {
      if (outputs == output.length) {
        output = Arrays.copyOf(output, Math.max(8, 2 * outputs));
      }
      output[outputs] = load.addOutput();
      if (weight < 1) {
        load.fade(output[outputs], weight);
      }
      outputs++;
    }
    var expected = work.expectedOutputTokens();
    if (blocks() > before && expected != null) {
      double left = expected == 0 ? 0 : Math.max(0, 1 - generated / (double) expected);
      if (weight - left >= WEIGHT_STEP || (left == 0 && weight > 0)) {
        weight = left;
        load.fade(work.prompt(), output, outputs, left);
      }
    }
  }

  private int blocks() {
    return Math.ceilDiv(work.promptTokens() + generated, work.blockTokens());
  }

  /** Whether the booking was released, or has expired. */
  public boolean isFreed() {
    return owner.isFreed(this);
  }

  /** Whether the booking was released. Called under the owner's lock. */
  boolean freed() {
    return freed;
  }

  /**
   * Releases the booking and returns whether it was still booked. Called under the owner's lock.
   */
  boolean release() {
    if (freed) {
      return false;
    }
    freed = true;
    releasePrefill();
    load.free(work.prompt(), output, outputs);
    return true;
  }
}
