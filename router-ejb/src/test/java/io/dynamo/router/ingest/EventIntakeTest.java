package io.dynamo.router.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventEnvelope;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.index.PrefixTableIndexer;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class EventIntakeTest {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);
  private static final WorkerRank SIBLING = new WorkerRank(new InstanceId(1), 1);

  private final Map<Byte, List<RankEvent>> messages = new HashMap<>();
  private final Metrics metrics = new Metrics();
  private final PrefixTableIndexer index = new PrefixTableIndexer();
  private final EventIntake intake = new EventIntake(index, this::decode, metrics);

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
  }

  private void hear(RankEvent... events) {
    byte number = (byte) messages.size();
    messages.put(number, List.of(events));
    hear(number);
  }

  private void hear(byte number) {
    intake.accept(new EventEnvelope(9, 0, 0, EventIntake.TOPIC, new byte[] {number}));
  }

  private static RankEvent stored(WorkerRank rank, long id, long parent, long content) {
    return new RankEvent(
        rank,
        new KvEvent.Stored(
            id,
            parent == 0 ? null : new SequenceHash(100 + parent),
            List.of(new StoredBlock(new SequenceHash(100 + content), new BlockHash(content)))));
  }

  private int held(WorkerRank rank) {
    return index.match(BlockHashes.ofBlocks(1, 2, 3)).blocks(rank);
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
    hear(stored(RANK, 1, 0, 1), stored(SIBLING, 1, 0, 1));
    intake.workers(Set.of());
    assertThat(held(RANK)).isZero();
    assertThat(held(SIBLING)).isZero();
    hear(stored(RANK, 2, 0, 1));
    assertThat(index.size()).isZero();
    assertThat(dropped("unknown_worker")).isEqualTo(1);
  }

  @Test
  void anUnreadableMessageIsDroppedAlone() {
    hear((byte) 77);
    hear(stored(RANK, 1, 0, 1));
    assertThat(dropped("undecodable")).isEqualTo(1);
    assertThat(held(RANK)).isEqualTo(1);
  }
}
