package io.dynamo.router.ingest;

import io.dynamo.concurrent.Alarms;
import io.dynamo.concurrent.SerialTasks;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.LinkListener;
import io.dynamo.event.StoredPosition;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics;
import io.dynamo.router.index.KvIndexer;
import io.dynamo.wire.event.EventEnvelope;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Applies the KV events of one endpoint's workers to an index; each rank's events come from the one
 * source that discovery announces for it. Any thread may call it, and no call blocks: a mailbox
 * does the work and is the index's only writer.
 *
 * <p>A rank is followed while its worker lives and a source of it is in discovery; of two sources
 * the one announced later is followed. When worker or source is gone, the rank's blocks are
 * removed; likewise while there is no connection to the source's publisher. Events of a publisher
 * without an announced source are held for a while, in case its announcement is still to come.
 */
public final class EventIntake implements LinkListener, AutoCloseable {
  /**
   * The greatest number of messages that wait in the mailbox; further ones are dropped and leave a
   * gap.
   */
  static final int WAITING_MESSAGES = 16_384;

  private static final System.Logger LOG = System.getLogger(EventIntake.class.getName());

  private final KvIndexer index;
  private final Function<byte[], List<RankEvent>> decoder;
  private final Recoveries recoveries;
  private final Alarms alarm;
  private final IntakeMeters meters;
  private final LongSupplier nanoClock;
  private final SerialTasks mailbox;
  private volatile boolean closed;
  // touched in the mailbox only
  private final Map<Long, KvEventSource> sources = new LinkedHashMap<>(); // by publisher, in order
  private final Map<WorkerRank, SourceFollower> followers = new HashMap<>();
  private final Set<Long> unreachablePublishers =
      new HashSet<>(); // publishers of sources without a connection
  private final JoinBuffer unknown;
  private Set<InstanceId> live = Set.of();
  private @Nullable StoredState stored; // null when no events are stored
  private boolean decodes = true; // a change to false is logged as a warning

  /**
   * Creates an intake without workers and sources.
   *
   * @param decoder throws an unchecked exception for bytes that are no KV events
   * @param executor runs the mailbox
   * @param nanoClock as {@link System#nanoTime()}
   */
  public EventIntake(
      KvIndexer index,
      Function<byte[], List<RankEvent>> decoder,
      Recoveries recoveries,
      Alarms alarm,
      Executor executor,
      LongSupplier nanoClock,
      Metrics metrics) {
    this.index = index;
    this.decoder = decoder;
    this.recoveries = recoveries;
    this.alarm = alarm;
    this.meters = new IntakeMeters(metrics);
    this.mailbox = SerialTasks.bounded("the intake of KV events", executor, WAITING_MESSAGES);
    this.nanoClock = nanoClock;
    this.unknown = new JoinBuffer(nanoClock);
  }

  /** Applies the events of one message. A message that cannot be decoded is counted and dropped. */
  @Override
  public void accept(EventEnvelope envelope) {
    if (!closed && !mailbox.offer(() -> take(envelope))) {
      meters.backlog.increment();
    }
  }

  /** Begins to count nothing as cached until {@link #caughtUp}; events come from a store. */
  void awaitStored() {
    mailbox.add(() -> stored = new StoredState(nanoClock.getAsLong()));
  }

  /** Takes over the ranks of a snapshot that includes the events up to {@code position}. */
  void restore(StoredPosition position, List<RankMirrors.State> ranks) {
    mailbox.add(() -> ifStored(state -> state.restore(position, ranks, nanoClock.getAsLong())));
  }

  /**
   * Applies the events of one stored message.
   *
   * @param taken called when the message no longer waits
   */
  void acceptStored(StoredPosition position, EventEnvelope envelope, Runnable taken) {
    mailbox.add(
        () -> {
          taken.run();
          ifStored(state -> state.moveTo(position));
          take(envelope);
        });
  }

  /** Called when all stored events have been accepted: what they tell counts from now on. */
  void caughtUp() {
    mailbox.add(
        () ->
            ifStored(
                state -> {
                  if (!state.isCurrent()) {
                    state.begin(nanoClock.getAsLong());
                    unreachablePublishers.clear();
                    followers.values().forEach(follower -> begin(follower, state));
                    state.report(followers.size(), nanoClock.getAsLong());
                  }
                }));
  }

  /**
   * Forgets the blocks of all stored events, until {@link #caughtUp}: some events that follow are
   * gone from the store.
   */
  void missStored() {
    mailbox.add(
        () ->
            ifStored(
                state -> {
                  state.mirrors().clear();
                  if (state.isCurrent()) {
                    cutNow(_ -> true);
                  }
                }));
  }

  /** Drops the blocks of publishers of stored events that have been gone for a while. */
  void expireStored() {
    mailbox.add(() -> ifStored(state -> state.expire(sources.keySet(), nanoClock.getAsLong())));
  }

  /**
   * Passes the ranks that are known without loss, and the position of the last event in them; null
   * when not all stored events have been applied.
   */
  void capture(BiConsumer<@Nullable StoredPosition, List<RankMirrors.State>> receiver) {
    mailbox.add(
        () ->
            ifStored(
                state -> { // before all is read, or while no source is known, it would lose ranks
                  boolean complete = state.isCurrent() && !sources.isEmpty();
                  receiver.accept(
                      complete ? state.position() : null,
                      complete ? state.mirrors().capture(Set.copyOf(sources.keySet())) : List.of());
                }));
  }

  private void ifStored(Consumer<StoredState> what) {
    if (stored != null && !closed) {
      what.accept(stored);
    }
  }

  @Override
  public void linked(LongPredicate publishers) {
    mailbox.add(
        () -> {
          unreachablePublishers.removeIf(publishers::test);
          eachFollowed(publishers, SourceFollower::linked);
        });
  }

  @Override
  public void cut(LongPredicate publishers) {
    mailbox.add(() -> cutNow(publishers));
  }

  private void cutNow(LongPredicate publishers) {
    ifStored(StoredState::end);
    sources.keySet().stream().filter(publishers::test).forEach(unreachablePublishers::add);
    eachFollowed(publishers, SourceFollower::cut);
  }

  private void eachFollowed(LongPredicate publishers, Consumer<SourceFollower> what) {
    followers.values().stream()
        .filter(follower -> publishers.test(follower.source().publisherId()))
        .forEach(what);
  }

  /** Called when discovery announces a source, new or changed. */
  public void sourceFound(KvEventSource source) {
    mailbox.add(
        () -> {
          if (closed || source.equals(sources.get(source.publisherId()))) {
            return;
          }
          drop(source.publisherId());
          sources.put(source.publisherId(), source);
          follow(source);
        });
  }

  /** Called when discovery no longer announces the source of {@code publisherId}. */
  public void sourceLost(long publisherId) {
    mailbox.add(() -> drop(publisherId));
  }

  private void drop(long publisherId) {
    var gone = sources.remove(publisherId);
    unreachablePublishers.remove(publisherId);
    ifStored(state -> state.mirrors().touch(publisherId, nanoClock.getAsLong()));
    if (gone == null || !isFollowed(gone)) {
      return;
    }
    forget(gone.rank());
    follow(gone.rank());
  }

  /**
   * Replaces the set of live workers. The blocks of workers that are gone are removed, even if
   * discovery still announces their sources.
   */
  public void workers(Set<InstanceId> now) {
    var all = Set.copyOf(now);
    mailbox.add(
        () -> {
          var before = live;
          live = all;
          List.copyOf(followers.keySet()).stream()
              .filter(rank -> !all.contains(rank.worker()))
              .forEach(this::forget);
          List.copyOf(sources.values()).stream()
              .filter(source -> !before.contains(source.rank().worker()))
              .forEach(this::follow);
        });
  }

  /** Follows the source of {@code rank} that discovery announced last, if there is one. */
  private void follow(WorkerRank rank) {
    sources.values().stream()
        .filter(source -> source.rank().equals(rank))
        .reduce((_, later) -> later)
        .ifPresent(this::follow);
  }

  /** Follows {@code source} in place of any other of its rank. */
  private void follow(KvEventSource source) {
    if (closed || !live.contains(source.rank().worker())) {
      return;
    }
    forget(source.rank());
    var follower = new SourceFollower(source, index, recoveries, alarm, mailbox, meters);
    followers.put(source.rank(), follower);
    if (unreachablePublishers.contains(source.publisherId())) {
      follower.cut();
    } else if (stored == null) {
      follower.begin();
    } else if (stored.isCurrent()) {
      begin(follower, stored);
    } else {
      follower.await();
    }
    meters.unknownPublisher.add(unknown.expire());
    unknown.take(source.publisherId()).forEach(follower::applyMessage);
  }

  /** Begins with what the stored events tell, or else as without a store. */
  private void begin(SourceFollower follower, StoredState state) {
    var source = follower.source();
    var known = state.mirrors().dump(source.publisherId(), source.rank());
    meters.restored(state.count(known));
    if (known == null) {
      follower.beginAgain();
    } else {
      follower.restore(known);
    }
  }

  private boolean isFollowed(KvEventSource source) {
    var follower = followers.get(source.rank());
    return follower != null && follower.source().equals(source);
  }

  private void forget(WorkerRank rank) {
    var follower = followers.remove(rank);
    if (follower != null) {
      follower.end();
    }
  }

  private void take(EventEnvelope envelope) {
    if (closed) {
      return;
    }
    List<RankEvent> events;
    try {
      events = decoder.apply(envelope.payload());
    } catch (RuntimeException e) {
      meters.undecodable.increment();
      undecodable(envelope, e);
      return;
    }
    decodes = true;
    if (stored != null) {
      stored.apply(envelope.publisherId(), events, nanoClock.getAsLong());
      if (!stored.isCurrent()) {
        return;
      }
    }
    var source = sources.get(envelope.publisherId());
    if (source == null && stored != null) {
      return; // known from the stored events when it is announced
    }
    if (source == null) {
      meters.unknownPublisher.add(unknown.add(envelope.publisherId(), events));
      return;
    }
    var follower = followers.get(source.rank());
    if (follower == null) {
      meters.unknownWorker.add(events.size());
    } else if (follower.source().equals(source)) {
      follower.applyMessage(events);
    } else {
      meters.replaced.add(events.size());
    }
  }

  private void undecodable(EventEnvelope envelope, RuntimeException cause) {
    boolean first = decodes;
    decodes = false;
    LOG.log(
        first ? Level.WARNING : Level.DEBUG,
        () ->
            "dropped %d bytes from publisher %x on %s that are no KV events"
                .formatted(envelope.payload().length, envelope.publisherId(), envelope.topic()),
        cause);
  }

  /** Ends the intake: later messages are ignored and pending queries are cancelled. Idempotent. */
  @Override
  public void close() {
    closed = true;
    mailbox.add(
        () -> {
          followers.values().forEach(SourceFollower::end);
          followers.clear();
          sources.clear();
        });
  }
}
