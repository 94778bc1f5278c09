package io.dynamo.router.load;

import io.dynamo.token.BlockHashes;

/**
 * The load of one request on one rank. Safe for concurrent use; each part is given back exactly
 * once, by whoever comes first: the request, or the expiry that guards against leaks.
 */
public final class Booking implements AutoCloseable {
  private final ActiveSequences owner;
  final RankLoad load;
  final BlockHashes prompt;
  final long bookedAtNanos;
  private final int candidate;
  private final long tokensToPrefill;
  private boolean prefilled; // guarded by the owner's lock
  private boolean freed; // guarded by the owner's lock

  Booking(
      ActiveSequences owner,
      RankLoad load,
      int candidate,
      BlockHashes prompt,
      long tokensToPrefill,
      long bookedAtNanos) {
    this.owner = owner;
    this.load = load;
    this.candidate = candidate;
    this.prompt = prompt;
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

  /** Gives everything back. Idempotent. */
  @Override
  public void close() {
    owner.free(this);
  }

  /** Whether it was given back, or has expired. */
  public boolean isFreed() {
    return owner.isFreed(this);
  }

  /** Under the owner's lock. */
  boolean freed() {
    return freed;
  }

  /** Under the owner's lock. */
  void releasePrefill() {
    if (!prefilled) {
      prefilled = true;
      load.prefilled(tokensToPrefill);
    }
  }

  /** Under the owner's lock. Returns whether it was still booked. */
  boolean release() {
    if (freed) {
      return false;
    }
    freed = true;
    releasePrefill();
    load.free(prompt);
    return true;
  }
}
