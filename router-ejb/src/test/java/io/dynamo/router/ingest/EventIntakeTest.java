package io.dynamo.router.ingest;

import static io.dynamo.router.ingest.TestRanks.RANK;
import static io.dynamo.router.ingest.TestRanks.SIBLING;
import static io.dynamo.router.ingest.TestRanks.source;
import static io.dynamo.router.ingest.TestRanks.stored;
import static org.assertj.core.api.Assertions.assertThat;

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
import io.dynamo.router.index.PrefixTableIndexer;
import io.dynamo.wire.event.EventEnvelope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class EventIntakeTest {

  private final Map<Byte, List<RankEvent>> messages = new HashMap<>();
  private final Metrics metrics = new Metrics();
  private final PrefixTableIndexer index = new PrefixTableIndexer();
  private long nowNanos;
  private final ManualAlarm alarm = new ManualAlarm();
  private final List<KvQuery> asked = new ArrayList<>();
  private KvReply answer = new KvReply.Refused("not yet");
  private final Recoveries recoveries =
      new Recoveries(
          (_, query) -> {
            asked.add(query);
            return CompletableFuture.completedFuture(answer);
          },
          alarm,
          Runnable::run,
          () -> 0);
  private final EventIntake intake =
      new EventIntake(
          index, this::decode, recoveries, alarm, Runnable::run, () -> nowNanos, metrics);

  private List<RankEvent> decode(byte[] payload) {
    var events = messages.get(payload[0]);
    if (events == null) {
      throw new IllegalArgumentException("not a message");
    }
    return events;
  }

  @BeforeEach
  void workerIsLive() {
    intake.workers(Set.of(RANK.worker()));
    intake.sourceFound(source(RANK, 9, false));
    intake.sourceFound(source(SIBLING, 10, false));
  }

  private void hear(RankEvent... events) {
    byte number = (byte) messages.size();
    messages.put(number, List.of(events));
    hear(events[0].rank().equals(SIBLING) ? 10 : 9, number);
  }

  private void hearFrom(long publisher, RankEvent... events) {
    byte number = (byte) messages.size();
    messages.put(number, List.of(events));
    hear(publisher, number);
  }

  private void hear(long publisher, byte number) {
    intake.accept(new EventEnvelope(publisher, 0, 0, KvEventSource.TOPIC, new byte[] {number}));
  }

  private int held(WorkerRank rank) {
    return TestRanks.held(index, rank);
  }

  private long dropped(String reason) {
    return metrics.counter(RouterMetrics.EVENTS_DROPPED, new Label("reason", reason)).value();
  }

  private long gaps() {
    return metrics.counter(RouterMetrics.EVENT_GAPS).value();
  }

  private long applied(String type, String status) {
    return metrics
        .counter(
            RouterMetrics.EVENTS_APPLIED,
            new Label("event_type", type),
            new Label("status", status))
        .value();
  }

  @Test
  void appliesEventsInOrder() {
    hear(stored(RANK, 1, 0, 1), stored(RANK, 2, 1, 2));
    hear(stored(RANK, 3, 2, 3));
    assertThat(held(RANK)).isEqualTo(3);
    assertThat(applied("stored", "ok")).isEqualTo(3);
    assertThat(gaps()).isZero();
  }

  @Test
  void theFirstEventSeenBeginsTheAccount() {
    hear(stored(RANK, 41, 0, 1), stored(RANK, 42, 1, 2));
    assertThat(held(RANK)).isEqualTo(2);
    assertThat(gaps()).isZero();
  }

  @Test
  void duplicatesAreIgnored() {
    hear(stored(RANK, 1, 0, 1));
    hear(new RankEvent(RANK, new KvEvent.Cleared(1)));
    assertThat(held(RANK)).isEqualTo(1);
    assertThat(dropped("duplicate")).isEqualTo(1);
  }

  @Test
  void aGapForgetsTheRankAndGoesOn() {
    hear(stored(RANK, 1, 0, 1), stored(RANK, 2, 1, 2));
    hear(stored(SIBLING, 1, 0, 1));
    hear(stored(RANK, 4, 0, 1));
    assertThat(held(RANK)).isEqualTo(1);
    assertThat(held(SIBLING)).isEqualTo(1);
    assertThat(gaps()).isEqualTo(1);
    hear(stored(RANK, 5, 1, 2));
    assertThat(held(RANK)).isEqualTo(2);
    assertThat(gaps()).isEqualTo(1);
  }

  @Test
  void anEventBehindAGapThatNeedsWhatWasLostIsCounted() {
    hear(stored(RANK, 1, 0, 1));
    hear(stored(RANK, 3, 2, 3));
    assertThat(held(RANK)).isZero();
    assertThat(applied("stored", "parent_block_not_found")).isEqualTo(1);
  }

  @Test
  void idsAreUnsigned() {
    hear(stored(RANK, Long.MAX_VALUE, 0, 1), stored(RANK, Long.MIN_VALUE, 1, 2));
    assertThat(held(RANK)).isEqualTo(2);
    assertThat(dropped("duplicate")).isZero();
  }

  @Test
  void aWorkerThatIsGoneIsForgotten() {
    hear(stored(RANK, 1, 0, 1));
    hear(stored(SIBLING, 1, 0, 1));
    intake.workers(Set.of());
    assertThat(held(RANK)).isZero();
    assertThat(held(SIBLING)).isZero();
    hear(stored(RANK, 2, 0, 1));
    assertThat(index.size()).isZero();
    assertThat(dropped("unknown_worker")).isEqualTo(1);
  }

  @Test
  void anUnreadableMessageIsDroppedAlone() {
    hear(9, (byte) 77);
    hear(stored(RANK, 1, 0, 1));
    assertThat(dropped("undecodable")).isEqualTo(1);
    assertThat(held(RANK)).isEqualTo(1);
  }

  @Test
  void aMessageWithAnotherRanksEventIsDroppedWhole() {
    hearFrom(9, stored(RANK, 1, 0, 1), stored(SIBLING, 1, 0, 1));
    assertThat(index.size()).isZero();
    assertThat(dropped("foreign_rank")).isEqualTo(2);
  }

  @Test
  void eventsThatCameBeforeTheirSourceAreTakenWithIt() {
    intake.sourceLost(9);
    hearFrom(9, stored(RANK, 1, 0, 1));
    assertThat(held(RANK)).isZero();
    nowNanos += Duration.ofSeconds(29).toNanos();
    intake.sourceFound(source(RANK, 9, false));
    assertThat(held(RANK)).isEqualTo(1);
  }

  @Test
  void eventsWhoseSourceNeverCameAreDropped() {
    hearFrom(77, stored(RANK, 1, 0, 1));
    nowNanos += Duration.ofSeconds(30).toNanos();
    intake.sourceFound(source(RANK, 77, false));
    assertThat(held(RANK)).isZero();
    assertThat(dropped("unknown_publisher")).isEqualTo(1);
  }

  @Test
  void unknownPublishersHoldAtMostSoManyMessages() {
    for (int i = 0; i < JoinBuffer.MESSAGES + 2; i++) {
      hearFrom(77, stored(RANK, 1, 0, 1));
    }
    assertThat(dropped("unknown_publisher")).isEqualTo(2);
  }

  @Test
  void aPublisherThatRestartsReplacesItsPredecessor() {
    hear(stored(RANK, 1, 0, 1), stored(RANK, 2, 1, 2));
    intake.sourceFound(source(RANK, 11, false));
    assertThat(held(RANK)).isZero();
    hearFrom(11, stored(RANK, 1, 0, 1));
    hearFrom(9, stored(RANK, 3, 2, 3));
    assertThat(held(RANK)).isEqualTo(1);
    assertThat(dropped("replaced_publisher")).isEqualTo(1);
    intake.sourceLost(9);
    assertThat(held(RANK)).isEqualTo(1);
    intake.sourceLost(11);
    assertThat(held(RANK)).isZero();
  }

  @Test
  void aSourceWithATargetIsAskedAtOnceAndEventsWait() {
    intake.sourceFound(source(RANK, 12, true));
    hearFrom(12, stored(RANK, 3, 2, 3));
    assertThat(held(RANK)).isZero();
    answer = new KvReply.TreeDump(List.of(stored(RANK, 0, 0, 1), stored(RANK, 1, 1, 2)), 2);
    alarm.ringAll();
    assertThat(asked).containsExactly(KvQuery.ofAll(RANK));
    assertThat(held(RANK)).isEqualTo(3);
  }

  @Test
  void aWorkerThatIsGoneIsAskedNoMore() {
    intake.sourceFound(source(RANK, 12, true));
    intake.workers(Set.of());
    alarm.ringAll();
    assertThat(asked).isEmpty();
    intake.workers(Set.of(RANK.worker()));
    alarm.ringAll();
    assertThat(asked).isNotEmpty();
  }

  @Test
  void aClosedIntakeAsksNoMore() {
    intake.sourceFound(source(RANK, 12, true));
    intake.close();
    alarm.ringAll();
    assertThat(asked).isEmpty();
  }

  @Test
  void lowerTiersAndUnsupportedDomainsKeepTheirIdsAndChangeNothing() {
    var event = stored(RANK, 1, 0, 1).event();
    hear(new RankEvent(RANK, StorageTier.DISK, Residency.WORKER, event, null));
    hear(
        new RankEvent(
            RANK, StorageTier.DEVICE, Residency.UNSUPPORTED, new KvEvent.Cleared(2), null));
    hear(stored(RANK, 3, 0, 1));
    assertThat(held(RANK)).isEqualTo(1);
    assertThat(dropped("lower_tier")).isEqualTo(1);
    assertThat(applied("cleared", "unsupported_residency_domain")).isEqualTo(1);
    assertThat(gaps()).isZero();
  }

  @Test
  void unreachablePublishersCountAsEmpty() {
    hear(stored(RANK, 1, 0, 1));
    hear(stored(SIBLING, 1, 0, 1));
    intake.cut(publisher -> publisher == 9);
    assertThat(held(RANK)).isZero();
    assertThat(held(SIBLING)).isEqualTo(1);
    intake.linked(publisher -> publisher == 9);
    alarm.ringAll();
    hear(stored(RANK, 5, 0, 1));
    assertThat(held(RANK)).isEqualTo(1);
    assertThat(gaps()).isZero();
  }

  @Test
  void relinkedPublisherIsQueriedAfterItsSubscriptionIsInEffect() {
    intake.sourceFound(source(RANK, 12, true));
    answer = new KvReply.TreeDump(List.of(stored(RANK, 0, 0, 1)), 1);
    alarm.ringAll();
    intake.cut(_ -> true);
    assertThat(held(RANK)).isZero();
    intake.linked(_ -> true);
    assertThat(asked).hasSize(1);
    alarm.ringAll();
    alarm.ringAll(); // the pause before a query
    assertThat(asked).hasSize(2);
    assertThat(held(RANK)).isEqualTo(1);
  }

  @Test
  void aShortBreakCostsAQuestionForWhatWasMissedAlone() {
    intake.sourceFound(source(RANK, 12, true));
    answer = new KvReply.TreeDump(List.of(stored(RANK, 0, 0, 1)), 1);
    alarm.ringAll();
    intake.linked(_ -> true);
    intake.linked(_ -> true);
    answer = new KvReply.Events(List.of(stored(RANK, 2, 1, 2)), 2);
    alarm.ringAll();
    alarm.ringAll();
    assertThat(asked).containsExactly(KvQuery.ofAll(RANK), KvQuery.from(RANK, 2));
    assertThat(held(RANK)).isEqualTo(2);
  }

  @Test
  void aCutOutlivesItsWorkersAbsenceAndEndsWithItsSource() {
    hear(stored(RANK, 1, 0, 1));
    intake.cut(publisher -> publisher == 9);
    intake.workers(Set.of());
    intake.workers(Set.of(RANK.worker()));
    intake.sourceFound(source(RANK, 12, true));
    alarm.ringAll();
    assertThat(asked).containsExactly(KvQuery.ofAll(RANK)); // publisher 12 is connected
    intake.sourceLost(12);
    intake.sourceLost(9);
    asked.clear();
    intake.sourceFound(source(RANK, 9, true));
    alarm.ringAll();
    assertThat(asked).containsExactly(KvQuery.ofAll(RANK));
  }

  @Test
  void aSourceThatIsFollowedAnewWhileItIsCutIsNotAsked() {
    intake.sourceFound(source(RANK, 12, true));
    alarm.ringAll();
    asked.clear();
    intake.cut(_ -> true);
    intake.workers(Set.of());
    intake.workers(Set.of(RANK.worker()));
    alarm.ringAll();
    assertThat(asked).isEmpty();
  }
}
