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
 * How far the events of one source have come, and what to do about the next one. Knows no time, no
 * index and no plane. One thread at a time.
 *
 * <p>A source that can be asked is asked for everything at once; what comes meanwhile is kept, and
 * taken when the answer is in. After a gap it is asked for what came behind the last event taken. A
 * source that answers nothing in the end is followed as one that cannot be asked: its first event
 * is where its account begins, and a gap empties the rank.
 *
 * <p>A source that cannot be heard holds nothing, as far as is known. One that is heard, for the
 * first time or again, is asked for what it told meanwhile.
 */
final class RankCursor {
  /** Events kept while an answer is awaited. */
  static final int KEPT_EVENTS = 1024;

  /** Answers in a row that may leave something open before the source is taken as unable. */
  static final int ROUNDS = 8;

  /** The actions that a cursor takes on the index and on its source. */
  interface Effects {
    /** Changes what the rank holds. */
    void apply(RankEvent event);

    /** Empties the rank. */
    void reset();

    /**
     * Queries the source; the result comes by {@link #answered} or {@link #exhausted}, and an
     * earlier query is dropped.
     *
     * @param startId from where on; null for everything
     */
    void ask(@Nullable Long startId);

    /** Wants no answer any more. */
    void stopAsking();

    /** Has {@link #retry} called after a while. */
    void retryLater();

    /** Counts what became of an event or of a question. */
    void count(Happening what);
  }

  private enum State {
    LIVE,
    /** Waits for an answer and keeps what comes. */
    RECOVERING,
    /** Follows as well as can be; may wait for an answer besides. */
    DEGRADED,
    /** Is not heard. */
    CUT,
    /** Has sent corrupt data; all its events are ignored. */
    FENCED
  }

  private final WorkerRank rank;
  private final boolean recoverable;
  private final Effects effects;
  private final ArrayDeque<RankEvent> kept = new ArrayDeque<>();
  private State state = State.LIVE;
  private boolean known; // whether cursor means something
  private long cursor; // the last id taken
  private boolean whole; // whether the rank is known as of the cursor
  private boolean asking;
  private @Nullable Long askedFrom;
  private boolean unheard; // whether it may have told something between the answer and its events
  private int rounds;

  /**
   * @param recoverable whether the source can be asked
   */
  RankCursor(WorkerRank rank, boolean recoverable, Effects effects) {
    this.rank = rank;
    this.recoverable = recoverable;
    this.effects = effects;
  }

  void begin() {
    if (recoverable) {
      recover(null);
    }
  }

  /** The source is heard from now on, for the first time or again. */
  void heard() {
    switch (state) {
      case CUT -> {
        state = State.LIVE;
        begin();
      }
      case LIVE -> {
        if (recoverable && known && !asking) {
          ask(cursor + 1); // and follows on: what is lost shows as a gap, unless nothing comes
        }
      }
      case RECOVERING -> unheard = true; // the answer may be older than what is heard
      case DEGRADED -> retry();
      case FENCED -> {}
    }
  }

  /** The source is not heard until further notice. */
  void cut() {
    if (state == State.FENCED || state == State.CUT) {
      return;
    }
    var _ = giveUpAsking();
    kept.clear();
    state = State.CUT;
    known = false;
    whole = false;
    unheard = false;
    rounds = 0;
    effects.reset();
  }

  private boolean giveUpAsking() {
    boolean was = asking;
    asking = false;
    if (was) {
      effects.stopAsking();
    }
    return was;
  }

  /** An event of the source has come. */
  void live(RankEvent event) {
    switch (state) {
      case CUT -> { // so it is heard
        heard();
        live(event);
      }
      case FENCED -> effects.count(Happening.FENCED_OFF);
      case RECOVERING -> {
        if (isOld(event)) {
          effects.count(Happening.DUPLICATE);
        } else if (clearsAll(event)) {
          supersede(event);
        } else {
          keep(event);
        }
      }
      case LIVE -> {
        if (isOld(event)) {
          effects.count(Happening.DUPLICATE);
        } else if (clearsAll(event)) {
          supersede(event);
        } else if (!known || follows(event)) {
          take(event);
        } else {
          effects.count(Happening.GAP);
          if (recoverable) {
            keep(event);
            recover(cursor + 1);
          } else {
            effects.reset();
            take(event);
          }
        }
      }
      case DEGRADED -> degraded(event);
    }
  }

  private void degraded(RankEvent event) {
    if (isOld(event)) {
      effects.count(Happening.DUPLICATE);
      return;
    }
    if (clearsAll(event)) {
      supersede(event);
      return;
    }
    if (known && !follows(event)) {
      effects.count(Happening.GAP);
      effects.reset();
      if (!asking) {
        ask(null);
      }
    }
    take(event);
    if (asking) { // the answer may end before it
      if (kept.size() == KEPT_EVENTS) {
        kept.remove();
      }
      kept.add(event);
    }
  }

  private boolean isOld(RankEvent event) {
    return known && Long.compareUnsigned(event.event().id(), cursor) <= 0;
  }

  private boolean follows(RankEvent event) {
    return event.event().id() == cursor + 1;
  }

  private static boolean clearsAll(RankEvent event) {
    return event.event() instanceof KvEvent.Cleared && event.residency() == Residency.ALL;
  }

  private void take(RankEvent event) {
    known = true;
    cursor = event.event().id();
    effects.apply(event);
  }

  private void keep(RankEvent event) {
    if (kept.size() == KEPT_EVENTS) {
      effects.count(Happening.NOT_KEPT); // a gap behind those kept; asked for when they are taken
    } else {
      kept.add(event);
      effects.count(Happening.KEPT);
    }
  }

  /** Nothing before the clear matters any more: neither what was lost nor what is kept. */
  private void supersede(RankEvent cleared) {
    if (giveUpAsking()) {
      effects.count(Happening.SUPERSEDED);
    }
    kept.clear();
    take(cleared);
    settle();
  }

  private void settle() {
    whole = true;
    rounds = 0;
    state = State.LIVE;
    if (unheard) {
      unheard = false;
      heard();
    }
  }

  private void recover(@Nullable Long startId) {
    state = State.RECOVERING;
    ask(startId);
  }

  private void ask(@Nullable Long startId) {
    asking = true;
    askedFrom = whole ? startId : null;
    effects.ask(askedFrom);
  }

  /** The source has answered the last question. */
  void answered(KvReply reply) {
    if (!asking) {
      return;
    }
    asking = false;
    switch (reply) {
      case KvReply.Events it -> events(it);
      case KvReply.TreeDump it when isInStep(it.lastId()) -> effects.count(Happening.IN_STEP);
      case KvReply.TreeDump it -> dump(it);
      case KvReply.TooNew it when isInStep(it.newestId()) -> effects.count(Happening.IN_STEP);
      case KvReply.TooNew _, KvReply.TreeDumpFailed _, KvReply.InvalidRange _, KvReply.Refused _ ->
          unanswered();
    }
  }

  /** Whether the source's last event has already been applied, so that nothing was lost. */
  private boolean isInStep(long lastId) {
    return state == State.LIVE
        && askedFrom != null
        && Long.compareUnsigned(askedFrom - 1, lastId) <= 0
        && Long.compareUnsigned(lastId, cursor) <= 0;
  }

  private void events(KvReply.Events reply) {
    if (isCorrupt(reply.events())) {
      fence();
      return;
    }
    effects.count(Happening.GOT_EVENTS);
    if (askedFrom == null) {
      unanswered(); // parts are no answer to who asks for everything
      return;
    }
    for (var event : reply.events()) {
      if (clearsAll(event) || follows(event)) {
        if (!isOld(event)) {
          take(event);
        }
      } else if (!isOld(event)) {
        unanswered();
        return;
      }
    }
    if (Long.compareUnsigned(cursor, reply.lastId()) < 0) {
      unanswered();
      return;
    }
    takeKept();
  }

  private void dump(KvReply.TreeDump reply) {
    if (isCorrupt(reply.events())) {
      fence();
      return;
    }
    effects.count(Happening.GOT_DUMP);
    effects.reset();
    reply.events().forEach(effects::apply);
    known = true;
    cursor = reply.lastId();
    whole = true;
    takeKept();
  }

  /** The answer does not connect to what is known: asks for everything, but not for ever. */
  private void unanswered() {
    if (askedFrom == null || ++rounds > ROUNDS) {
      exhausted();
    } else {
      whole = false;
      recover(null);
    }
  }

  private void takeKept() {
    state = State.LIVE;
    for (var next = kept.poll(); next != null; next = kept.poll()) {
      if (clearsAll(next) || follows(next)) {
        if (!isOld(next)) {
          take(next);
        }
      } else if (!isOld(next)) {
        kept.addFirst(next);
        if (++rounds > ROUNDS) {
          exhausted();
        } else {
          recover(cursor + 1);
        }
        return;
      }
    }
    settle();
  }

  private boolean isCorrupt(List<RankEvent> events) {
    return events.stream().anyMatch(event -> !event.rank().equals(rank));
  }

  private void fence() {
    effects.count(Happening.CORRUPT);
    kept.clear();
    state = State.FENCED;
    effects.reset();
  }

  /** The source has not answered, and is not asked for a while. */
  void exhausted() {
    asking = false;
    if (state == State.FENCED || state == State.LIVE) { // nothing that is told is known to be lost
      return;
    }
    effects.count(Happening.EXHAUSTED);
    boolean first = state != State.DEGRADED;
    state = State.DEGRADED;
    whole = false;
    rounds = 0;
    if (first) {
      known = false;
      effects.reset();
      var waiting = List.copyOf(kept);
      kept.clear();
      for (var event : waiting) {
        if (known && !follows(event)) {
          effects.reset();
        }
        take(event);
      }
    }
    kept.clear();
    effects.retryLater();
  }

  /** A while has passed since the source did not answer. */
  void retry() {
    if (state == State.DEGRADED && !asking) {
      ask(null);
    }
  }
}
