package io.dynamo.router.ingest;

import io.dynamo.event.StoredPosition;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.RankEvent;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The blocks that stored events have made known to an intake. For one thread at a time. */
final class StoredState {
  private static final System.Logger LOG = System.getLogger(StoredState.class.getName());

  /** The blocks of a rank that stored events tell nothing certain of. */
  static final long UNKNOWN = -1;

  private final RankMirrors mirrors = new RankMirrors();
  private final long sinceNanos;
  private @Nullable StoredPosition position; // of the last event applied
  private boolean current; // whether all stored events have been applied
  private long currentNanos; // since when
  private long events; // since the last report
  private int snapshotRanks;
  private long blocks;
  private long ranks;
  private long coldRanks;

  StoredState(long nowNanos) {
    this.sinceNanos = nowNanos;
  }

  RankMirrors mirrors() {
    return mirrors;
  }

  @Nullable StoredPosition position() {
    return position;
  }

  void moveTo(StoredPosition at) {
    position = at;
  }

  boolean isCurrent() {
    return current;
  }

  /** Notes that all stored events have been applied. */
  void begin(long nowNanos) {
    current = true;
    currentNanos = nowNanos;
  }

  /** Notes that some stored events are yet to come. */
  void end() {
    current = false;
  }

  /** Drops the blocks of publishers that are not live and were not when there was time to be. */
  void expire(Set<Long> live, long nowNanos) {
    if (current && nowNanos - currentNanos >= RankMirrors.ABSENCE.toNanos()) {
      mirrors.expire(live, nowNanos);
    }
  }

  void restore(StoredPosition at, List<RankMirrors.State> states, long nowNanos) {
    mirrors.restore(states, nowNanos);
    position = at;
    snapshotRanks = states.size();
  }

  void apply(long publisherId, List<RankEvent> more, long nowNanos) {
    mirrors.apply(publisherId, more, nowNanos);
    events += more.size();
  }

  /** Counts a rank that is followed from now on; returns its blocks, or {@link #UNKNOWN}. */
  long count(KvReply.@Nullable TreeDump known) {
    if (known == null) {
      coldRanks++;
      return UNKNOWN;
    }
    ranks++;
    long held = 0;
    for (var event : known.events()) {
      if (event.event() instanceof KvEvent.Stored stored) {
        held += stored.blocks().size();
      }
    }
    blocks += held;
    return held;
  }

  /** Logs how warm the intake has become since the last report. */
  void report(int followed, long nowNanos) {
    LOG.log(
        Level.INFO,
        "{0} blocks of {1} ranks are known from a snapshot of {2} ranks and {3} stored events, {4}"
            + " ms after the start; {5} of the {6} ranks that are followed are not among them",
        blocks,
        ranks,
        snapshotRanks,
        events,
        TimeUnit.NANOSECONDS.toMillis(nowNanos - sinceNanos),
        coldRanks,
        followed);
    blocks = 0;
    ranks = 0;
    coldRanks = 0;
    events = 0;
  }
}
