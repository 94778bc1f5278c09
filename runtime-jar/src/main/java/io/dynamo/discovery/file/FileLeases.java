package io.dynamo.discovery.file;

import io.dynamo.discovery.file.FileStatus.Stamp;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * Tells which files of a store have an owner that lives. Confined to one thread.
 *
 * <p>An owner renews its file by changing its time. Here only the fact of a change counts, and the
 * time since is measured on the monotonic clock: a step of the wall clock neither ends a lease nor
 * prolongs one. The wall clock is a hint at two places where it can do no harm. A change that is
 * seen at a look lies between the look before and this one; the file's time says where, within
 * these bounds. And a file that is seen for the first time with a time further than a lease from
 * now is not believed until it changes once, which a living owner does within a third of the lease.
 *
 * <p>Time in which this process did not look, because it was stopped or its machine was, counts for
 * half a lease at most: it cannot say who was silent meanwhile.
 */
final class FileLeases {
  /** The state of an owner's lease. */
  enum State {
    ALIVE,
    /** Seen first with a time of long ago or far ahead, and not changed since. */
    UNCONFIRMED,
    /** Silent for a lease. */
    EXPIRED
  }

  private record Lease(Stamp stamp, long aliveNanos, boolean confirmed) {}

  private final long ttlNanos;
  private Map<Path, Lease> before = new HashMap<>();
  private Map<Path, Lease> leases = new HashMap<>();
  private boolean first = true;
  private Instant now = Instant.EPOCH;
  private long lookedNanos;
  private long observedNanos; // the sum of the time between looks
  private long gapNanos; // since the look before

  FileLeases(Duration ttl) {
    ttlNanos = ttl.toNanos();
  }

  /**
   * Begins a look. Files that are not asked for until the next one are forgotten.
   *
   * @param now on the wall clock
   * @param nanos on the monotonic clock
   */
  void beginLook(Instant now, long nanos) {
    gapNanos = first ? 0 : Math.min(nanos - lookedNanos, ttlNanos / 2);
    first = false;
    lookedNanos = nanos;
    observedNanos += gapNanos;
    this.now = now;
    before = leases;
    leases = new HashMap<>();
  }

  /** Returns the state of the owner of {@code file} after the file was seen with {@code stamp}. */
  State seen(Path file, Stamp stamp) {
    var known = before.get(file);
    long ageNanos = ageNanos(stamp);
    Lease lease;
    if (known == null) {
      lease = new Lease(stamp, observedNanos, Math.abs(ageNanos) <= ttlNanos);
    } else if (known.stamp.equals(stamp)) {
      lease = known;
    } else {
      lease = new Lease(stamp, observedNanos - Math.clamp(ageNanos, 0, gapNanos), true);
    }
    leases.put(file, lease);
    return state(lease);
  }

  /** Returns the state of the owner of {@code file} when nothing of the file can be seen. */
  State unseen(Path file) {
    var known = before.get(file);
    if (known == null) {
      return State.EXPIRED;
    }
    leases.put(file, known);
    return state(known);
  }

  private State state(Lease lease) {
    if (observedNanos - lease.aliveNanos > ttlNanos) {
      return State.EXPIRED;
    }
    return lease.confirmed ? State.ALIVE : State.UNCONFIRMED;
  }

  /** By the wall clock; negative when the file's time is ahead of it. */
  private long ageNanos(Stamp stamp) {
    var age = Duration.between(stamp.changed().toInstant(), now);
    var bound = Duration.ofNanos(2 * ttlNanos);
    if (age.compareTo(bound) > 0) {
      return bound.toNanos();
    }
    return age.negated().compareTo(bound) > 0 ? -bound.toNanos() : age.toNanos();
  }
}
