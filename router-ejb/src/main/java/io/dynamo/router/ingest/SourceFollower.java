package io.dynamo.router.ingest;

import io.dynamo.concurrent.Alarms;
import io.dynamo.concurrent.SerialTasks;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.Residency;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.index.KvIndexer;
import io.dynamo.router.index.LowerTierIndexer;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Applies one source's events to the index; its cursor decides, this class acts. Runs in the
 * intake's mailbox only.
 */
final class SourceFollower implements CursorEffects {
  /** The time between the failure of all query attempts and the next query. */
  static final Duration REST = Duration.ofSeconds(30);

  /** The time after a connection until all published events surely arrive over it. */
  static final Duration SUBSCRIBING = Duration.ofMillis(500);

  private static final System.Logger LOG = System.getLogger(SourceFollower.class.getName());

  private final KvEventSource source;
  private final KvIndexer index;
  private final Recoveries recoveries;
  private final Alarms alarm;
  private final SerialTasks mailbox;
  private final IntakeMeters meters;
  private final RankCursor cursor;
  private Recoveries.@Nullable Ticket question;
  private Alarms.@Nullable Alarm rest;
  private Alarms.@Nullable Alarm subscribing;
  private boolean cut; // logged when it changes
  private int asked; // number of the latest query; answers to earlier ones are ignored
  private boolean ended;

  SourceFollower(
      KvEventSource source,
      KvIndexer index,
      Recoveries recoveries,
      Alarms alarm,
      SerialTasks mailbox,
      IntakeMeters meters) {
    this.source = source;
    this.index = index;
    this.recoveries = recoveries;
    this.alarm = alarm;
    this.mailbox = mailbox;
    this.meters = meters;
    this.cursor = new RankCursor(source.rank(), source.recoveryTarget() != null, this);
  }

  KvEventSource source() {
    return source;
  }

  void begin() {
    cursor.begin();
  }

  /** Begins with blocks that are known without asking the source. */
  void restore(KvReply.TreeDump known) {
    if (cut) {
      cut = false;
      LOG.log(Level.INFO, "rank {0} can be heard again", source.rank());
    }
    stopSubscribing();
    cursor.restored(known);
  }

  /** Begins like {@link #begin} after {@link #await} or a cut. */
  void beginAgain() {
    if (cut) {
      linked();
    } else {
      cursor.connected();
    }
  }

  /** Begins without events, of which none counts as lost: {@link #restore} or a link follows. */
  void await() {
    cursor.disconnected();
  }

  /** Applies a message whole, or drops all of it when an event in it is about another rank. */
  void applyMessage(List<RankEvent> events) {
    for (var event : events) {
      if (!event.rank().equals(source.rank())) {
        meters.foreign.add(events.size());
        LOG.log(
            Level.DEBUG,
            "publisher {0} of rank {1} sent an event of rank {2}; the event is dropped",
            source.publisherId(),
            source.rank(),
            event.rank());
        return;
      }
    }
    events.forEach(cursor::receive);
  }

  /** Called when the source is connected, for the first time or again. */
  void linked() {
    if (cut) {
      cut = false;
      LOG.log(Level.INFO, "rank {0} can be heard again", source.rank());
    }
    stopSubscribing();
    subscribing = soon(SUBSCRIBING, cursor::connected);
  }

  /** Called when the source is disconnected. */
  void cut() {
    if (!cut) {
      cut = true;
      LOG.log(
          Level.WARNING,
          "rank {0} sends no events; it counts as empty until it does",
          source.rank());
    }
    stopSubscribing();
    cursor.disconnected();
  }

  private void stopSubscribing() {
    if (subscribing != null) {
      subscribing.cancel();
      subscribing = null;
    }
  }

  private Alarms.Alarm soon(Duration time, Runnable task) {
    return alarm.after(
        time,
        () ->
            mailbox.add(
                () -> {
                  if (!ended) {
                    task.run();
                  }
                }));
  }

  /** Removes the rank's blocks and ignores all later events. Idempotent. */
  void end() {
    if (!ended) {
      ended = true;
      stopAsking();
      stopSubscribing();
      if (rest != null) {
        rest.cancel();
      }
      reset();
    }
  }

  @Override
  public void apply(RankEvent event) {
    if (event.residency() == Residency.UNSUPPORTED) {
      meters.unsupported(event.event());
    } else if (event.residency() == Residency.ALL
        || (event.residency() == Residency.WORKER && event.tier() == StorageTier.DEVICE)) {
      meters.applied(event.event(), index.apply(source.rank(), event.event()));
    } else if (event.residency() == Residency.WORKER && index instanceof LowerTierIndexer tiers) {
      tiers.apply(source.rank(), event.tier(), event.event());
    } else {
      meters.lowerTier.increment();
    }
  }

  @Override
  public void reset() {
    var _ = index.apply(source.rank(), new KvEvent.Cleared(0)); // always succeeds
  }

  @Override
  public void ask(@Nullable Long startId) {
    var target = source.recoveryTarget();
    if (target == null) {
      throw new IllegalStateException("source " + source.publisherId() + " cannot be asked");
    }
    stopAsking();
    int mine = ++asked;
    WorkerRank rank = source.rank();
    question =
        recoveries.ask(
            target,
            startId == null ? KvQuery.ofAll(rank) : KvQuery.from(rank, startId),
            new Recoveries.Listener() {
              @Override
              public void replied(KvReply reply) {
                applyIfLatest(mine, () -> cursor.answered(reply));
              }

              @Override
              public void exhausted() {
                applyIfLatest(mine, cursor::exhausted);
              }
            });
  }

  private void applyIfLatest(int question, Runnable outcome) {
    mailbox.add(
        () -> {
          if (!ended && question == asked) {
            asked++;
            outcome.run();
          }
        });
  }

  @Override
  public void stopAsking() {
    asked++;
    if (question != null) {
      question.cancel();
      question = null;
    }
  }

  @Override
  public void retryLater() {
    rest = soon(REST, cursor::retry);
  }

  @Override
  public void count(CursorIncident what) {
    switch (what) {
      case GAP -> LOG.log(Level.DEBUG, "events of rank {0} are lost on their way", source.rank());
      case EXHAUSTED ->
          LOG.log(
              Level.WARNING,
              "rank {0} does not tell what it holds; only what it says from now on counts",
              source.rank());
      case CORRUPT ->
          LOG.log(
              Level.WARNING,
              "rank {0} answered with events of another rank; it is ignored from now on",
              source.rank());
      case DUPLICATE, KEPT, NOT_KEPT, FENCED_OFF, GOT_EVENTS, GOT_DUMP, IN_STEP, SUPERSEDED -> {}
    }
    meters.count(what);
  }
}
