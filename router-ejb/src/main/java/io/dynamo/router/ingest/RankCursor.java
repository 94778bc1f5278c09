package io.dynamo.router.ingest;

import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.Residency;
import io.dynamo.kv.WorkerRank;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides what to do with each event of one source: apply it, keep it, drop it, or query the source
 * for events that were lost. Does not depend on time, index or plane. For one thread at a time.
 *
 * <p>A source that answers queries is queried for all its blocks at the start; events that arrive
 * meanwhile are kept, and applied after the answer. After a gap it is queried for the events after
 * the last one applied. A source that never answers is followed like one without queries: the
 * rank's blocks are known from its first event on, and a gap empties the rank.
 *
 * <p>A rank whose source is disconnected counts as empty. A source that is connected, for the first
 * time or again, is queried for the events that it published meanwhile.
 */
final class RankCursor {
  /** The greatest number of events kept while an answer is awaited. */
  static final int KEPT_EVENTS = 1024;

  /** Incomplete answers in a row after which the source counts as unable to answer. */
  static final int ROUNDS = 8;

  private enum State {
    /** Applies each event that follows the last one. */
    LIVE,
    /** Awaits an answer and keeps the events that arrive. */
    RECOVERING,
    /** Applies events although some are lost; may await an answer as well. */
    DEGRADED,
    /** Is disconnected. */
    CUT,
    /** Has sent corrupt data; all its events are ignored. */
    FENCED
  }

  /**
   * A query to the source.
   *
   * @param from the first event id to query; null queries all blocks
   */
  private record Query(@Nullable Long from) {}

  private final WorkerRank rank;
  private final boolean recoverable;
  private final CursorEffects effects;
  private final ArrayDeque<RankEvent> kept = new ArrayDeque<>();
  private State state = State.LIVE;
  private final EventPosition position = new EventPosition();
  private @Nullable Query query; // null while no answer is awaited
  private boolean reconnected; // whether events between the answer and the connection may be lost
  private int rounds;

  /**
   * Creates a cursor without a position.
   *
   * @param recoverable whether the source can be queried
   */
  RankCursor(WorkerRank rank, boolean recoverable, CursorEffects effects) {
    this.rank = rank;
    this.recoverable = recoverable;
    this.effects = effects;
  }

  void begin() {
    if (recoverable) {
      recover(null);
    }
  }

  /** Takes over all blocks of the rank as they are known from elsewhere; later events follow. */
  void restored(KvReply.TreeDump known) {
    if (state == State.FENCED) {
      return;
    }
    var _ = giveUpAsking();
    kept.clear();
    rounds = 0;
    reconnected = false;
    state = State.LIVE;
    effects.reset();
    known.events().forEach(effects::apply);
    position.moveTo(known.lastId());
    position.setComplete();
    if (recoverable) {
      ask(position.next()); // stays LIVE: a loss shows as a gap at the next event
    }
  }

  /** Called when the source's events arrive from now on, for the first time or again. */
  void connected() {
    switch (state) {
      case CUT -> {
        state = State.LIVE;
        begin();
      }
      case LIVE -> {
        if (recoverable && position.isKnown() && query == null) {
          ask(position.next()); // stays LIVE: a loss shows as a gap at the next event
        }
      }
      case RECOVERING -> reconnected = true; // the answer may be older than the connection
      case DEGRADED -> retry();
      case FENCED -> {}
    }
  }

  /** Called when no events of the source can arrive until it is {@link #connected} again. */
  void disconnected() {
    if (state == State.FENCED || state == State.CUT) {
      return;
    }
    var _ = giveUpAsking();
    kept.clear();
    state = State.CUT;
    position.forget();
    reconnected = false;
    rounds = 0;
    effects.reset();
  }

  private boolean giveUpAsking() {
    boolean was = query != null;
    query = null;
    if (was) {
      effects.stopAsking();
    }
    return was;
  }

  /** Called with each event of the source, in the order of their arrival. */
  void receive(RankEvent event) {
    switch (state) {
      case CUT -> { // an event arrives only over a connection
        connected();
        receive(event);
      }
      case FENCED -> effects.count(CursorIncident.FENCED_OFF);
      case RECOVERING -> whileRecovering(event);
      case LIVE -> whileLive(event);
      case DEGRADED -> whileDegraded(event);
    }
  }

  private void whileRecovering(RankEvent event) {
    if (position.hasPassed(event)) {
      effects.count(CursorIncident.DUPLICATE);
    } else if (clearsAll(event)) {
      supersede(event);
    } else {
      keep(event);
    }
  }

  private void whileLive(RankEvent event) {
    if (position.hasPassed(event)) {
      effects.count(CursorIncident.DUPLICATE);
    } else if (clearsAll(event)) {
      supersede(event);
    } else if (!position.isKnown() || position.isFollowedBy(event)) {
      take(event);
    } else {
      effects.count(CursorIncident.GAP);
      if (recoverable) {
        keep(event);
        recover(position.next());
      } else {
        effects.reset();
        take(event);
      }
    }
  }

  private void whileDegraded(RankEvent event) {
    if (position.hasPassed(event)) {
      effects.count(CursorIncident.DUPLICATE);
      return;
    }
    if (clearsAll(event)) {
      supersede(event);
      return;
    }
    if (position.isKnown() && !position.isFollowedBy(event)) {
      effects.count(CursorIncident.GAP);
      effects.reset();
      if (query == null) {
        ask(null);
      }
    }
    take(event);
    if (query != null) { // the answer may not include this event
      if (kept.size() == KEPT_EVENTS) {
        kept.remove();
      }
      kept.add(event);
    }
  }

  private static boolean clearsAll(RankEvent event) {
    return event.event() instanceof KvEvent.Cleared && event.residency() == Residency.ALL;
  }

  private void take(RankEvent event) {
    position.moveTo(event.event().id());
    effects.apply(event);
  }

  private void keep(RankEvent event) {
    if (kept.size() == KEPT_EVENTS) {
      effects.count(
          CursorIncident.NOT_KEPT); // a gap behind those kept; queried when they are taken
    } else {
      kept.add(event);
      effects.count(CursorIncident.KEPT);
    }
  }

  /** Applies an event that empties the rank, which makes lost and kept events irrelevant. */
  private void supersede(RankEvent cleared) {
    if (giveUpAsking()) {
      effects.count(CursorIncident.SUPERSEDED);
    }
    kept.clear();
    take(cleared);
    settle();
  }

  private void settle() {
    position.setComplete();
    rounds = 0;
    state = State.LIVE;
    if (reconnected) {
      reconnected = false;
      connected();
    }
  }

  private void recover(@Nullable Long startId) {
    state = State.RECOVERING;
    ask(startId);
  }

  private void ask(@Nullable Long startId) {
    var from = position.isComplete() ? startId : null;
    query = new Query(from);
    effects.ask(from);
  }

  /** Called with the source's answer to the latest query. */
  void answered(KvReply reply) {
    var answered = query;
    if (answered == null) {
      return;
    }
    query = null;
    switch (reply) {
      case KvReply.Events it -> events(answered, it);
      case KvReply.TreeDump it when isInStep(answered, it.lastId()) ->
          effects.count(CursorIncident.IN_STEP);
      case KvReply.TreeDump it -> dump(it);
      case KvReply.TooNew it when isInStep(answered, it.newestId()) ->
          effects.count(CursorIncident.IN_STEP);
      case KvReply.TooNew _, KvReply.TreeDumpFailed _, KvReply.InvalidRange _, KvReply.Refused _ ->
          unanswered(answered);
    }
  }

  /** Whether the source's last event has already been applied, so that nothing was lost. */
  private boolean isInStep(Query answered, long lastId) {
    return state == State.LIVE
        && answered.from != null
        && Long.compareUnsigned(answered.from - 1, lastId) <= 0
        && !position.isBehind(lastId);
  }

  private void events(Query answered, KvReply.Events reply) {
    if (isCorrupt(reply.events())) {
      fence();
      return;
    }
    effects.count(CursorIncident.GOT_EVENTS);
    if (answered.from == null) {
      unanswered(answered); // single events do not answer a query for all blocks
      return;
    }
    for (var event : reply.events()) {
      if (!position.hasPassed(event)) {
        if (!clearsAll(event) && !position.isFollowedBy(event)) {
          unanswered(answered);
          return;
        }
        take(event);
      }
    }
    if (position.isBehind(reply.lastId())) {
      unanswered(answered);
      return;
    }
    takeKept();
  }

  private void dump(KvReply.TreeDump reply) {
    if (isCorrupt(reply.events())) {
      fence();
      return;
    }
    effects.count(CursorIncident.GOT_DUMP);
    effects.reset();
    reply.events().forEach(effects::apply);
    position.moveTo(reply.lastId());
    position.setComplete();
    takeKept();
  }

  /**
   * Queries all blocks after an answer that does not follow the position; gives up after too many
   * rounds.
   */
  private void unanswered(Query answered) {
    if (answered.from == null || ++rounds > ROUNDS) {
      exhausted();
    } else {
      position.setIncomplete();
      recover(null);
    }
  }

  private void takeKept() {
    state = State.LIVE;
    for (var next = kept.poll(); next != null; next = kept.poll()) {
      if (position.hasPassed(next)) {
        continue;
      }
      if (!clearsAll(next) && !position.isFollowedBy(next)) {
        kept.addFirst(next);
        if (++rounds > ROUNDS) {
          exhausted();
        } else {
          recover(position.next());
        }
        return;
      }
      take(next);
    }
    settle();
  }

  private boolean isCorrupt(List<RankEvent> events) {
    return events.stream().anyMatch(event -> !event.rank().equals(rank));
  }

  private void fence() {
    effects.count(CursorIncident.CORRUPT);
    kept.clear();
    state = State.FENCED;
    effects.reset();
  }

  /** Called when all attempts to query the source have failed. */
  void exhausted() {
    query = null;
    if (state == State.FENCED || state == State.LIVE) { // no event is known to be lost
      return;
    }
    effects.count(CursorIncident.EXHAUSTED);
    boolean first = state != State.DEGRADED;
    state = State.DEGRADED;
    position.setIncomplete();
    rounds = 0;
    if (first) {
      position.forget();
      effects.reset();
      var waiting = List.copyOf(kept);
      kept.clear();
      for (var event : waiting) {
        if (position.isKnown() && !position.isFollowedBy(event)) {
          effects.reset();
        }
        take(event);
      }
    }
    kept.clear();
    effects.retryLater();
  }

  /** Called some time after {@link CursorEffects#retryLater}. */
  void retry() {
    if (state == State.DEGRADED && query == null) {
      ask(null);
    }
  }
}
