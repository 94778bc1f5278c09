package io.dynamo.discovery.file;

import io.dynamo.discovery.file.FileStatus.Stamp;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * Decides which files of a store have a live owner. Confined to one thread.
 *
 * <p>An owner renews its file by changing its modification time. Only the fact of a change counts
 * here, and the time since then is measured on the monotonic clock: a step of the wall clock
 * neither ends nor prolongs a lease. The wall clock is a hint in two places where it can do no
 * harm. First, a change found at a look happened between the previous look and this one; the file's
 * time says when, within these bounds. Second, a file that is first seen with a time further than a
 * lease from now is not trusted until it changes once, which a live owner does within a third of
 * the lease.
 *
 * <p>Time in which this process did not look, because it or its machine was stopped, counts for at
 * most half a lease: this process cannot know who was silent meanwhile.
 */
final class FileLeases {
  /** The state of an owner's lease. */
  enum State {
    ALIVE,
    /** First seen with a time in the distant past or future, and not changed since. */
    UNCONFIRMED,
    /** Not renewed for a whole lease. */
    EXPIRED
  }

  private record Lease(Stamp stamp, long aliveNanos, boolean confirmed) {}

  private final long ttlNanos;
  private Map<Path, Lease> before = new HashMap<>();
  private Map<Path, Lease> leases = new HashMap<>();
  private boolean first = true;
  private Instant now = Instant.EPOCH;
  private long lookedNanos;
  private long observedNanos; // sum of the times between looks
  private long gapNanos; // time since the previous look

  FileLeases(Duration ttl) {
    ttlNanos = ttl.toNanos();
  }

  /**
   * Starts a look. Files that are not queried before the next one are forgotten.
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

  /** Returns the state of the owner of {@code file}, whose current stamp is {@code stamp}. */
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

  /** Returns the state of the owner of {@code file} when its attributes cannot be read. */
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

  /** Returns the age by the wall clock; negative when the file's time is in the future. */
  private long ageNanos(Stamp stamp) {
    var age = Duration.between(stamp.changed().toInstant(), now);
    var bound = Duration.ofNanos(2 * ttlNanos);
    if (age.compareTo(bound) > 0) {
      return bound.toNanos();
    }
    return age.negated().compareTo(bound) > 0 ? -bound.toNanos() : age.toNanos();
  }
}
