package io.dynamo.router.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.PrefillCompleted;
import io.dynamo.kv.SequenceAdded;
import io.dynamo.kv.SequenceEvent;
import io.dynamo.kv.SequenceFreed;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.endpoint.FakeInstances;
import io.dynamo.router.endpoint.FakePlane;
import io.dynamo.router.load.ActiveSequences;
import io.dynamo.router.load.RankLoads;
import io.dynamo.token.BlockHashes;
import io.dynamo.wire.kv.SequenceEventCodec;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ReplicasTest {
  private static final EventSubject SUBJECT =
      new EventSubject(FakeInstances.ENDPOINT, "active_sequences_events");
  private static final InstanceId WORKER = new InstanceId(1);
  private static final List<WorkerRank> RANKS =
      List.of(new WorkerRank(WORKER, 0), new WorkerRank(new InstanceId(2), 0));
  private static final WorkerRank RANK = RANKS.getFirst();
  private static final InstanceId A = new InstanceId(0xa);
  private static final InstanceId B = new InstanceId(0xb);

  private final FakeInstances workers = new FakeInstances();
  private final FakePlane plane = new FakePlane();
  private final AtomicLong nanos = new AtomicLong();
  private final Metrics metrics = new Metrics();
  private final Queue<Runnable> tasks = new ArrayDeque<>();

  ReplicasTest() {
    workers.set(1, 2);
  }

  /** A router, reduced to its load and its replicas. */
  private final class Router {
    final ActiveSequences load = new ActiveSequences(Duration.ofMinutes(5), nanos::get);
    final Replicas replicas;

    Router(InstanceId self, boolean tells) {
      replicas =
          new Replicas(
              FakeInstances.ENDPOINT, self, tells, load, workers, plane, tasks::add, metrics);
    }

    Placement place(String id, int rank, long tokens, long... prompt) {
      var hashes = BlockHashes.ofBlocks(prompt);
      var booking = load.book(RANKS, hashes, _ -> new ActiveSequences.RankChoice(rank, tokens));
      return replicas.placed(id, RANKS.get(rank), hashes, tokens, booking);
    }

    /** Returns the loads that the next decision for {@code prompt} would see. */
    RankLoads sees(long... prompt) {
      var seen = new ArrayList<RankLoads>();
      load.book(
              RANKS,
              BlockHashes.ofBlocks(prompt),
              loads -> {
                seen.add(loads);
                return new ActiveSequences.RankChoice(0, 0);
              })
          .close();
      return seen.getFirst();
    }
  }

  private final Router one = new Router(A, true);
  private final Router two = new Router(B, true);

  private void settle() {
    for (var task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
    plane.deliver();
  }

  private void tell(long publisher, SequenceEvent... events) {
    plane.tell(publisher, SUBJECT.topic(), SequenceEventCodec.encode(List.of(events)));
  }

  /** Returns the number of events of each message. */
  private List<Integer> batches() {
    return plane.published().stream()
        .map(message -> SequenceEventCodec.decode(message.payload()).size())
        .toList();
  }

  private double dropped(String reason) {
    return metrics
        .counter(RouterMetrics.SEQUENCE_EVENTS_DROPPED, new Label("reason", reason))
        .value();
  }

  @Test
  void placementsOfOneRouterCountAsLoadAtTheOther() {
    var placed = one.place("r", 0, 40, 1, 2, 3);
    settle();
    assertThat(two.sees(1, 2, 9).prefillTokens()).containsExactly(40, 0);
    assertThat(two.sees(1, 2, 9).addedBlocks()).containsExactly(1, 3);
    assertThat(one.load.active()).as("its own news is no news").isEqualTo(1);

    placed.prefillDone();
    placed.prefillDone();
    settle();
    assertThat(two.sees().prefillTokens()).containsExactly(0, 0);
    assertThat(two.sees().blocks()).containsExactly(3, 0);

    placed.close();
    placed.close();
    settle();
    assertThat(two.load.active()).isZero();
    assertThat(batches()).containsExactly(1, 1, 1);
  }

  @Test
  void newsThatWaitLeaveTogetherAndInOrder() {
    for (int i = 0; i < 100; i++) {
      one.place("r" + i, 0, 1, i).close();
    }
    one.place("last", 1, 7, 5);
    settle();

    assertThat(batches()).containsExactly(201);
    assertThat(two.load.active()).isEqualTo(1);
    assertThat(two.sees().prefillTokens()).containsExactly(0, 7);
  }

  @Test
  void aBatchIsBounded() {
    for (int i = 0; i < 300; i++) {
      one.place("r" + i, 0, 1);
    }
    settle();

    assertThat(batches()).containsExactly(256, 44);
    assertThat(two.load.active()).isEqualTo(300);
  }

  @Test
  void aRouterThatDoesNotTellStillHears() {
    var silent = new Router(new InstanceId(0xc), false);
    silent.place("mine", 0, 4, 1).close();
    one.place("r", 0, 40, 1);
    settle();

    assertThat(batches()).containsExactly(1);
    assertThat(silent.sees().prefillTokens()).containsExactly(40, 0);
  }

  @Test
  void aWorkerEndsThePrefillOfWhoeverPlacedIt() {
    one.place("r", 0, 40, 1);
    settle();

    tell(99, new PrefillCompleted("r", RANK, WORKER));

    assertThat(one.sees().prefillTokens()).containsExactly(0, 0);
    assertThat(two.sees().prefillTokens()).containsExactly(0, 0);
    assertThat(two.load.active()).isEqualTo(1);
  }

  @Test
  void onlyWhoPlacedARequestOrItsWorkerSpeaksOfIt() {
    one.place("r", 0, 40, 1);
    settle();

    tell(
        99,
        new PrefillCompleted("r", RANK, new InstanceId(0xd)),
        new SequenceFreed("r", RANK, new InstanceId(0xd)),
        new SequenceFreed("r", RANKS.get(1), A),
        new SequenceFreed("unknown", RANK, A));

    assertThat(two.sees().prefillTokens()).containsExactly(40, 0);
  }

  @Test
  void aRequestThatMovesIsCountedOnce() {
    one.place("r", 0, 40, 1);
    one.place("r", 1, 30, 1); // the event of its end on the first worker is never sent
    settle();

    assertThat(two.sees().prefillTokens()).containsExactly(0, 30);
    assertThat(two.load.active()).isEqualTo(1);
  }

  @Test
  void theEndOfALegThatMovedAwayDoesNotEndTheNext() {
    var first = one.place("r", 0, 40, 1);
    one.place("r", 1, 30, 1);
    first.close();
    settle();
    assertThat(two.sees().prefillTokens()).containsExactly(0, 30);

    tell(99, new PrefillCompleted("r", RANKS.get(1), new InstanceId(2)));
    assertThat(one.sees().prefillTokens()).containsExactly(0, 0);
  }

  @Test
  void loadOfALostRouterIsReleased() {
    one.place("r", 0, 40, 1);
    settle();
    one.replicas.close();

    assertThat(two.load.active()).isZero();
    assertThat(one.load.active()).as("its own requests still run").isEqualTo(1);
  }

  @Test
  void loadOnALostWorkerIsReleased() {
    one.place("r", 0, 40, 1);
    one.place("s", 1, 4, 1);
    settle();

    workers.set(2);
    assertThat(two.load.active()).isEqualTo(1);

    tell(1, new SequenceAdded("late", RANK, A, BlockHashes.ofBlocks(), 1));
    assertThat(two.load.active()).isEqualTo(1);
    assertThat(dropped("unknown_worker")).isPositive();
  }

  @Test
  void unendedSequencesExpire() {
    one.place("r", 0, 40, 1);
    settle();
    nanos.set(Duration.ofMinutes(5).toNanos());

    assertThat(two.sees().prefillTokens()).containsExactly(0, 0);
  }

  @Test
  void requestsOfOthersAreBounded() {
    for (int i = 0; i < Replicas.MAX_OTHERS + 2; i++) {
      tell(9, new SequenceAdded("r" + i, RANK, new InstanceId(9), BlockHashes.ofBlocks(), 1));
    }
    assertThat(two.load.active()).isEqualTo(Replicas.MAX_OTHERS);
    assertThat(dropped("full")).isEqualTo(4); // two routers receive two too many

    nanos.set(Duration.ofMinutes(6).toNanos());
    two.sees(); // the expired are dropped
    tell(9, new SequenceAdded("new", RANK, new InstanceId(9), BlockHashes.ofBlocks(), 1));
    assertThat(two.load.active()).isEqualTo(1);
  }

  @Test
  void undecodableEventsAreCounted() {
    plane.tell(9, SUBJECT.topic(), new byte[] {1});
    tell(
        9,
        new SequenceAdded(
            "r", new WorkerRank(WORKER, -1), new InstanceId(9), BlockHashes.ofBlocks(), 1));

    assertThat(dropped("undecodable")).isEqualTo(4); // two routers received both
    assertThat(two.load.active()).isZero();
  }

  @Test
  void aClosedOneIsDeaf() {
    two.replicas.close();
    two.replicas.close();
    one.place("r", 0, 40, 1);
    settle();

    assertThat(two.load.active()).isZero();
    assertThat(plane.subscribed()).containsExactly(SUBJECT);
    assertThat(workers.listeners()).hasSize(1);
  }
}
