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
 * Brings one source's events into the index: the cursor decides, this does it. Runs in the intake's
 * mailbox only.
 */
final class SourceFollower implements CursorEffects {
  /** After all attempts to ask a source failed, until the next one. */
  static final Duration REST = Duration.ofSeconds(30);

  /** From a connection to the moment when all that is published surely comes over it. */
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
  private int asked; // tells answers to the last question from those to earlier ones
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

  /** Takes a message whole, or none of it when an event in it is not the source's to tell. */
  void hear(List<RankEvent> events) {
    for (var event : events) {
      if (!event.rank().equals(source.rank())) {
        meters.foreign.add(events.size());
        LOG.log(
            Level.DEBUG,
            "publisher {0} of rank {1} told of rank {2}; its message is dropped",
            source.publisherId(),
            source.rank(),
            event.rank());
        return;
      }
    }
    events.forEach(cursor::receive);
  }

  /** The way to the source is there, for the first time or again. */
  void linked() {
    if (cut) {
      cut = false;
      LOG.log(Level.INFO, "rank {0} can be heard again", source.rank());
    }
    stopSubscribing();
    subscribing = soon(SUBSCRIBING, cursor::connected);
  }

  /** There is no way to the source. */
  void cut() {
    if (!cut) {
      cut = true;
      LOG.log(
          Level.WARNING,
          "rank {0} cannot be heard; until it can, nothing counts as cached there",
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

  /** Forgets what the rank holds and hears nothing more. Idempotent. */
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
                tell(mine, () -> cursor.answered(reply));
              }

              @Override
              public void exhausted() {
                tell(mine, cursor::exhausted);
              }
            });
  }

  private void tell(int question, Runnable outcome) {
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
