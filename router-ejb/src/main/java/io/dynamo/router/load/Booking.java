package io.dynamo.router.load;

import java.util.Arrays;

/**
 * The load of one request on one rank. Safe for concurrent use; each part is given back exactly
 * once, by whoever comes first: the request, the end of the worker, or the expiry that guards
 * against leaks.
 */
public final class Booking implements AutoCloseable {
  /** The least decrease of a block's weight that is applied: each update walks over all blocks. */
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
  private double weight = 1; // of each block, by the latest fading; guarded by the owner's lock
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

  /** The index of the candidate that was chosen. */
  public int candidate() {
    return candidate;
  }

  /** Prompt tokens that the candidate was believed not to have cached. */
  public long tokensToPrefill() {
    return tokensToPrefill;
  }

  /** The first token is out: the prompt is no work any more. Idempotent. */
  public void prefillDone() {
    owner.prefillDone(this);
  }

  /** More tokens are out. Takes no lock where output does not count. */
  public void generated(int tokens) {
    if (work.countsOutput()) {
      owner.generated(this, tokens);
    }
  }

  /** Gives everything back. Idempotent. */
  @Override
  public void close() {
    owner.free(this);
  }

  /** Under the owner's lock. Returns whether there was prefill to give back. */
  boolean releasePrefill() {
    if (prefilled) {
      return false;
    }
    prefilled = true;
    load.prefilled(tokensToPrefill);
    return tokensToPrefill > 0;
  }

  /** Under the owner's lock. */
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

  /** Whether it was given back, or has expired. */
  public boolean isFreed() {
    return owner.isFreed(this);
  }

  /** Under the owner's lock. */
  boolean freed() {
    return freed;
  }

  /** Under the owner's lock. Returns whether it was still booked. */
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
