package io.dynamo.router.ingest;

import static io.dynamo.router.ingest.TestRanks.RANK;
import static io.dynamo.router.ingest.TestRanks.SIBLING;
import static io.dynamo.router.ingest.TestRanks.source;
import static io.dynamo.router.ingest.TestRanks.stored;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventHistory;
import io.dynamo.event.EventSubject;
import io.dynamo.event.StoredPosition;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.Residency;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.index.TieredIndexer;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import io.dynamo.wire.kv.KvEventCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Routers that come and go beside one store of events. */
class StoredIntakeTest {
  private static final EventSubject SUBJECT =
      new EventSubject(TestRanks.ENDPOINT, KvEventSource.TOPIC);

  /** One router. */
  private final class Router {
    final Metrics metrics = new Metrics();
    final TieredIndexer index = new TieredIndexer();
    final ManualAlarm alarm = new ManualAlarm();
    final List<KvQuery> asked = new ArrayList<>();
    final EventIntake intake =
        new EventIntake(
            index,
            KvEventCodec::decode,
            new Recoveries(
                (_, query) -> {
                  asked.add(query);
                  return new CompletableFuture<KvReply>();
                },
                alarm,
                Runnable::run,
                () -> 0),
            alarm,
            Runnable::run,
            () -> nowNanos,
            metrics);
    final StoredIntake stored =
        new StoredIntake(
            history,
            SUBJECT,
            intake,
            new MirrorFormat(KvEventCodec::encode, KvEventCodec::decode),
            alarm,
            Runnable::run,
            metrics);

    Router start() {
      intake.awaitStored();
      stored.open();
      return this;
    }

    Router finds(boolean recoverable) {
      intake.workers(Set.of(RANK.worker()));
      intake.sourceFound(source(RANK, 9, recoverable));
      intake.sourceFound(source(SIBLING, 10, recoverable));
      return this;
    }

    int held(WorkerRank rank) {
      return TestRanks.held(index, rank);
    }

    long restoredRanks(String result) {
      return metrics.counter(RouterMetrics.RESTORED_RANKS, new Label("result", result)).value();
    }
  }

  private final FakeHistory history = new FakeHistory(SUBJECT);
  private long nowNanos;

  private void publishTwoBlocks() {
    history.publish(9, stored(RANK, 1, 0, 1));
    history.publish(9, stored(RANK, 2, 1, 2));
  }

  @Test
  void nothingCountsBeforeAllThatIsStoredHasBeenRead() {
    publishTwoBlocks();
    var router = new Router().start().finds(false);
    assertThat(router.held(RANK)).isZero();

    router.stored.caughtUp();

    assertThat(router.held(RANK)).isEqualTo(2);
    assertThat(router.metrics.counter(RouterMetrics.RESTORED_BLOCKS).value()).isEqualTo(2);
    assertThat(router.restoredRanks("restored")).isEqualTo(1);
    assertThat(router.restoredRanks("incomplete")).isEqualTo(1);
    history.publish(9, stored(RANK, 3, 2, 3));
    assertThat(router.held(RANK)).isEqualTo(3);
  }

  @Test
  void aSourceThatIsAnnouncedLateIsKnownFromTheStoredEvents() {
    publishTwoBlocks();
    var router = new Router().start();
    router.stored.caughtUp();
    history.publish(9, stored(RANK, 3, 2, 3));

    router.finds(false);

    assertThat(router.held(RANK)).isEqualTo(3);
  }

  @Test
  void aSourceThatCanBeAskedIsAskedForLaterEventsAlone() {
    publishTwoBlocks();
    var router = new Router().start().finds(true);
    router.alarm.ringAll();
    assertThat(router.asked).isEmpty();

    router.stored.caughtUp();

    router.alarm.ringAll(); // questions are asked a moment later
    assertThat(router.asked)
        .containsExactlyInAnyOrder(KvQuery.from(RANK, 3), KvQuery.ofAll(SIBLING));
    assertThat(router.held(RANK)).isEqualTo(2);
  }

  @Test
  void whileTheStoreIsAwayNothingCountsAndAfterwardsAllDoes() {
    publishTwoBlocks();
    var router = new Router().start().finds(false);
    router.stored.caughtUp();

    router.stored.cut();
    assertThat(router.held(RANK)).isZero();
    history.publish(9, stored(RANK, 3, 2, 3));
    assertThat(router.held(RANK)).as("it may not be the last one").isZero();
    router.stored.caughtUp();

    assertThat(router.held(RANK)).isEqualTo(3);
  }

  @Test
  void aGapInTheStoredEventsMakesTheRankUnknownUntilItIsCleared() {
    publishTwoBlocks();
    history.publish(9, stored(RANK, 4, 2, 3));
    history.publish(10, stored(SIBLING, 5, 0, 1)); // the first ones are gone
    var router = new Router().start().finds(false);
    router.stored.caughtUp();
    assertThat(router.held(RANK)).isZero();
    assertThat(router.held(SIBLING)).isZero();

    history.publish(9, new RankEvent(RANK, new KvEvent.Cleared(5)));
    history.publish(9, stored(RANK, 6, 0, 1));

    assertThat(router.held(RANK)).isEqualTo(1);
    var late = new Router().start().finds(false);
    late.stored.caughtUp();
    assertThat(late.held(RANK)).isEqualTo(1);
    assertThat(late.restoredRanks("incomplete")).isEqualTo(1);
  }

  private static RankEvent inHostMemory(RankEvent event) {
    return new RankEvent(
        event.rank(), StorageTier.HOST_PINNED, Residency.WORKER, event.event(), null);
  }

  /** Returns the number of blocks in host memory that follow those on the device. */
  private static int inHostMemory(Router router, WorkerRank rank) {
    var request = BlockHashes.ofBlocks(1, 2, 3);
    var host = new int[1];
    router.index.extend(request, router.index.match(request), List.of(rank), host, new int[1]);
    return host[0];
  }

  @Test
  void blocksBelowTheDeviceAreKnownFromTheStoreAndASnapshot() {
    publishTwoBlocks();
    history.publish(9, inHostMemory(stored(RANK, 3, 2, 3)));
    var router = new Router().start().finds(false);
    router.stored.caughtUp();
    assertThat(router.held(RANK)).isEqualTo(2);
    assertThat(inHostMemory(router, RANK)).isEqualTo(1);

    history.threshold = 1;
    history.publish(9, stored(RANK, 4, 0, 5));
    router.alarm.ringAll();
    assertThat(history.snapshot).isNotNull();
    assertThat(history.events).isEmpty();
    var next = new Router().start().finds(false);
    next.stored.caughtUp();
    assertThat(next.held(RANK)).isEqualTo(2);
    assertThat(inHostMemory(next, RANK)).isEqualTo(1);
  }

  @Test
  void aClearOfATierLeavesTheOthersInTheStoreAndInTheIndex() {
    publishTwoBlocks();
    history.publish(9, inHostMemory(stored(RANK, 3, 2, 3)));
    var router = new Router().start().finds(false);
    router.stored.caughtUp();
    history.publish(9, inHostMemory(new RankEvent(RANK, new KvEvent.Cleared(4))));
    assertThat(router.held(RANK)).isEqualTo(2);
    assertThat(inHostMemory(router, RANK)).isZero();
    var next = new Router().start().finds(false);
    next.stored.caughtUp();
    assertThat(next.held(RANK)).isEqualTo(2);
    assertThat(inHostMemory(next, RANK)).isZero();

    history.publish(9, new RankEvent(RANK, new KvEvent.Cleared(5)));
    assertThat(next.held(RANK)).isZero();
    var last = new Router().start().finds(false);
    last.stored.caughtUp();
    assertThat(last.held(RANK)).isZero();
  }

  @Test
  void blocksOfASharedCacheMakeTheRankUnknown() {
    publishTwoBlocks();
    history.publish(
        9,
        new RankEvent(
            RANK,
            StorageTier.HOST_PINNED,
            Residency.CACHE_OWNER,
            stored(RANK, 3, 2, 3).event(),
            null));
    var router = new Router().start().finds(true);

    router.stored.caughtUp();

    router.alarm.ringAll();
    assertThat(router.asked).contains(KvQuery.ofAll(RANK));
  }

  @Test
  void aSnapshotTakesThePlaceOfManyEventsAndWarmsTheNextRouter() {
    var router = new Router().start().finds(false);
    router.stored.caughtUp();
    history.threshold = 2;
    publishTwoBlocks();
    router.alarm.ringAll();
    assertThat(history.snapshot).as("no more than the threshold").isNull();
    history.publish(10, stored(SIBLING, 1, 0, 1));
    history.publish(77, stored(new WorkerRank(new InstanceId(2), 0), 1, 0, 1)); // without a source

    router.alarm.ringAll();

    assertThat(Objects.requireNonNull(history.snapshot).position()).isEqualTo(history.at(4));
    assertThat(history.events).isEmpty();
    assertThat(
            router.metrics.counter(RouterMetrics.SNAPSHOTS, new Label("result", "written")).value())
        .isEqualTo(1);
    history.publish(9, stored(RANK, 3, 2, 3));
    var next = new Router().start().finds(false);
    assertThat(next.held(RANK)).isZero();
    next.stored.caughtUp();
    assertThat(next.held(RANK)).isEqualTo(3);
    assertThat(next.held(SIBLING)).isEqualTo(1);
    assertThat(next.restoredRanks("restored")).isEqualTo(2);
  }

  @Test
  void aSnapshotWithEventsMissingBehindItIsNotUsed() {
    var router = new Router().start().finds(false);
    router.stored.caughtUp();
    history.threshold = 1;
    publishTwoBlocks();
    router.alarm.ringAll();
    history.publish(9, stored(RANK, 3, 2, 3));
    history.publish(9, new RankEvent(RANK, new KvEvent.Removed(4, List.of(new SequenceHash(101)))));
    history.events.remove(3L); // too old

    var next = new Router().start().finds(false);
    next.stored.caughtUp();

    assertThat(next.held(RANK)).as("nobody knows what was removed").isZero();
    assertThat(next.restoredRanks("incomplete")).isEqualTo(2);
  }

  @Test
  void aSnapshotOfAStoreThatWasMadeAnewIsNotUsed() {
    var router = new Router().start().finds(false);
    router.stored.caughtUp();
    history.threshold = 1;
    publishTwoBlocks();
    router.alarm.ringAll();
    assertThat(Objects.requireNonNull(history.snapshot).position()).isEqualTo(history.at(2));
    history.makeAnew();
    history.threshold = 1000;
    for (int id = 3; id <= 6; id++) { // beyond the position of the snapshot
      history.publish(9, stored(RANK, id, 0, id));
    }

    var next = new Router().start().finds(false);
    next.stored.caughtUp();

    assertThat(next.held(RANK)).as("by the snapshot").isZero();
    assertThat(next.restoredRanks("incomplete")).isEqualTo(2);
  }

  @Test
  void aSnapshotSaysOfWhichStoreItsPositionIs() {
    var router = new Router().start().finds(false);
    router.stored.caughtUp();
    history.threshold = 1;
    publishTwoBlocks();
    history.makeAnew();
    router.alarm.ringAll();
    assertThat(history.snapshot).as("there is nothing to take the place of").isNull();
    history.publish(9, new RankEvent(RANK, new KvEvent.Cleared(3)));
    history.publish(9, stored(RANK, 4, 0, 1));

    router.alarm.ringAll();

    assertThat(Objects.requireNonNull(history.snapshot).position())
        .isEqualTo(new StoredPosition(2, 2));
  }

  @Test
  void aSnapshotThatIsNotReadableIsNotUsed() {
    publishTwoBlocks();
    for (var content :
        List.of(
            new byte[0],
            new byte[] {1, 2, 3, 4, 5},
            new byte[] {0x44, 0x4B, 0x56, 1, 127, 0, 0, 0})) {
      history.snapshot = new EventHistory.Snapshot(history.at(1), content);
      var next = new Router().start().finds(false);
      next.stored.caughtUp();
      assertThat(next.held(RANK)).as("by the events").isEqualTo(2);
    }
  }

  @Test
  void aStoreThatIsAwayAtTheStartIsAskedAgain() {
    publishTwoBlocks();
    history.away = true;
    var router = new Router().start().finds(false);
    assertThat(history.listeners).isEmpty();
    assertThat(router.alarm.delays()).containsExactly(StoredIntake.LOOK);
    history.away = false;

    router.alarm.ringAll();
    router.stored.caughtUp();

    assertThat(router.held(RANK)).isEqualTo(2);
  }

  @Test
  void aSnapshotThatSaysNoPositionIsRefusedOnceAndReplaced() {
    publishTwoBlocks();
    history.unreadable = true;
    var router = new Router().start().finds(false);
    assertThat(history.listeners).as("it reads the events all the same").hasSize(1);
    router.stored.caughtUp();
    assertThat(router.held(RANK)).isEqualTo(2);
    history.threshold = 1;

    router.alarm.ringAll();

    assertThat(Objects.requireNonNull(history.snapshot).position()).isEqualTo(history.at(2));
  }

  @Test
  void eventsThatAreGoneUnreadMakeEveryRankUnknown() {
    publishTwoBlocks();
    var router = new Router().start().finds(true);
    router.stored.caughtUp();
    assertThat(router.held(RANK)).isEqualTo(2);

    router.stored.gap();

    assertThat(router.held(RANK)).as("a removal may be among what is gone").isZero();
    router.stored.caughtUp();
    router.alarm.ringAll();
    router.alarm.ringAll(); // the pause before a query
    assertThat(router.asked).containsExactlyInAnyOrder(KvQuery.ofAll(RANK), KvQuery.ofAll(SIBLING));
  }

  @Test
  void aGapBeforeTheFirstEventMakesTheSnapshotUnknown() {
    var router = new Router().start().finds(false);
    router.stored.caughtUp();
    publishTwoBlocks();
    history.threshold = 1;
    router.alarm.ringAll();
    var next = new Router().start().finds(false);

    next.stored.gap();
    next.stored.caughtUp();

    assertThat(next.held(RANK)).isZero();
    assertThat(next.restoredRanks("incomplete")).isEqualTo(2);
  }

  @Test
  void aSourceThatIsAwayForAMomentIsStillKnown() {
    publishTwoBlocks();
    var router = new Router().start().finds(false);
    router.stored.caughtUp();
    nowNanos += RankMirrors.ABSENCE.toNanos();
    router.alarm.ringAll();
    router.intake.sourceLost(9);
    nowNanos += RankMirrors.ABSENCE.toNanos() - 1;
    router.alarm.ringAll();

    router.intake.sourceFound(source(RANK, 9, false));

    assertThat(router.held(RANK)).isEqualTo(2);
  }

  @Test
  void blocksOfASourceThatIsGoneAreDroppedAfterAWhile() {
    publishTwoBlocks();
    history.publish(77, stored(new WorkerRank(new InstanceId(2), 0), 1, 0, 1)); // never announced
    var router = new Router().start().finds(false);
    router.stored.caughtUp();
    router.intake.sourceLost(9);
    nowNanos += RankMirrors.ABSENCE.toNanos();
    router.alarm.ringAll();

    router.intake.sourceFound(source(RANK, 9, false));
    router.intake.workers(Set.of(RANK.worker(), new InstanceId(2)));
    router.intake.sourceFound(source(new WorkerRank(new InstanceId(2), 0), 77, false));

    assertThat(router.held(RANK)).as("it must be asked").isZero();
    assertThat(router.held(new WorkerRank(new InstanceId(2), 0))).isZero();
  }

  @Test
  void aClosedIntakeListensNoMore() {
    var router = new Router().start().finds(false);
    router.stored.close();
    router.stored.close();
    assertThat(history.listeners).isEmpty();
    router.alarm.ringAll();
    assertThat(router.alarm.delays()).isEmpty();
  }
}
