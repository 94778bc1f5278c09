package io.dynamo.worker.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.Residency;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RankLogTest {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);

  private final RankLog log = new RankLog(RANK, 5000);

  private static KvEvent.Stored stored(long id, @Nullable Long parent, long... blocks) {
    return new KvEvent.Stored(
        id,
        parent == null ? null : new SequenceHash(parent),
        LongStream.of(blocks)
            .mapToObj(block -> new StoredBlock(new SequenceHash(block), new BlockHash(block + 50)))
            .toList());
  }

  private static KvEvent.Removed removed(long id, long... blocks) {
    return new KvEvent.Removed(id, LongStream.of(blocks).mapToObj(SequenceHash::new).toList());
  }

  private KvReply from(long start) {
    return log.answer(KvQuery.from(RANK, start));
  }

  private KvReply all() {
    return log.answer(KvQuery.ofAll(RANK));
  }

  private static KvReply.TreeDump dump(long lastId, KvEvent... events) {
    return new KvReply.TreeDump(
        List.of(events).stream().map(event -> new RankEvent(RANK, event)).toList(), lastId);
  }

  @Test
  void anEmptyRankTellsAnEmptyDump() {
    assertThat(all()).isEqualTo(dump(0));
    assertThat(from(0)).isEqualTo(dump(0));
    assertThat(from(1)).isEqualTo(new KvReply.TooNew(1, 0, 0));
  }

  @Test
  void theDumpTellsRunsParentsFirst() {
    log.add(StorageTier.DEVICE, stored(0, null, 1, 2, 3));
    log.add(StorageTier.DEVICE, stored(0, 2L, 4));
    log.add(StorageTier.DEVICE, stored(0, 4L, 5));
    assertThat(all())
        .isEqualTo(dump(3, stored(0, null, 1, 2), stored(1, 2L, 4, 5), stored(2, 2L, 3)));
  }

  @Test
  void descendantsOfARemovedBlockAreRemoved() {
    log.add(StorageTier.DEVICE, stored(0, null, 1, 2, 3));
    log.add(StorageTier.DEVICE, stored(0, 1L, 4));
    log.add(StorageTier.DEVICE, removed(0, 2));
    assertThat(all()).isEqualTo(dump(3, stored(0, null, 1, 4)));
    log.add(StorageTier.DEVICE, stored(0, 2L, 9));
    assertThat(all()).as("a child of what is not held").isEqualTo(dump(4, stored(0, null, 1, 4)));
    log.add(StorageTier.DEVICE, new KvEvent.Cleared(0));
    assertThat(all()).isEqualTo(dump(5));
  }

  @Test
  void eventsAreToldUnderTheirOwnIdsToTheLast() {
    log.add(StorageTier.DEVICE, stored(0, null, 1));
    log.add(StorageTier.DEVICE, stored(0, 1L, 2));
    log.add(StorageTier.DEVICE, removed(0, 2));
    assertThat(log.answer(new KvQuery(RANK, 2L, 2L, true)))
        .as("the end has no effect")
        .isEqualTo(
            new KvReply.Events(
                List.of(new RankEvent(RANK, stored(2, 1L, 2)), new RankEvent(RANK, removed(3, 2))),
                3));
    assertThat(from(4)).isEqualTo(new KvReply.TooNew(4, 3, 3));
    assertThat(log.answer(new KvQuery(RANK, 5L, 2L, true)))
        .isEqualTo(new KvReply.InvalidRange(5, 2));
    assertThat(log.answer(KvQuery.ofAll(new WorkerRank(RANK.worker(), 1))))
        .isInstanceOf(KvReply.Refused.class);
  }

  @Test
  void aStartThatIsTooOldGetsTheDump() {
    for (int i = 0; i <= RankLog.ANSWERED_EVENTS; i++) {
      log.add(StorageTier.DEVICE, stored(0, null, 1));
    }
    assertThat(from(1)).isEqualTo(dump(RankLog.ANSWERED_EVENTS + 1, stored(0, null, 1)));
    assertThat(from(2))
        .isInstanceOfSatisfying(
            KvReply.Events.class,
            reply -> assertThat(reply.events()).hasSize(RankLog.ANSWERED_EVENTS));
  }

  @Test
  void aBlockStoredTwiceIsGoneAtItsSecondRemoval() {
    log.add(StorageTier.DEVICE, stored(0, null, 1, 2));
    log.add(StorageTier.DEVICE, stored(0, null, 1));
    log.add(StorageTier.DEVICE, removed(0, 1));
    assertThat(all()).as("no event, no id").isEqualTo(dump(2, stored(0, null, 1, 2)));
    log.add(StorageTier.DEVICE, removed(0, 1));
    assertThat(all()).isEqualTo(dump(3));
    log.add(StorageTier.DEVICE, removed(0, 77));
    assertThat(from(4))
        .as("an unknown removal passes")
        .isEqualTo(new KvReply.Events(List.of(new RankEvent(RANK, removed(4, 77))), 4));
  }

  @Test
  void aClearForgetsHowOftenBlocksWereStored() {
    log.add(StorageTier.DEVICE, stored(0, null, 1));
    log.add(StorageTier.DEVICE, stored(0, null, 1));
    log.add(StorageTier.DEVICE, new KvEvent.Cleared(0));
    log.add(StorageTier.DEVICE, stored(0, null, 1));
    log.add(StorageTier.DEVICE, removed(0, 1));
    assertThat(all()).isEqualTo(dump(5));
  }

  @Test
  void noChangeIsLeftOutThoughNobodyTakesThemIn() {
    int changes = 3 * RankLog.QUEUED_CHANGES + 1;
    for (int i = 0; i < changes; i++) {
      log.add(StorageTier.DEVICE, stored(0, i == 0 ? null : Long.valueOf(i - 1), i));
    }
    assertThat(log.after(0, 10, 100).skipped()).isEqualTo(changes - RankLog.KEPT_EVENTS);
    assertThat(all())
        .isEqualTo(
            new KvReply.TreeDumpFailed(
                changes,
                "rank 1/0 holds 12289 blocks on its device, more than the 5000 that fit one frame; raise the"
                    + " frame size"));
    assertThat(log.answer(new KvQuery(RANK, null, null, false)))
        .isInstanceOf(KvReply.Refused.class);
  }

  private static RankEvent below(StorageTier tier, KvEvent event) {
    return new RankEvent(RANK, tier, Residency.WORKER, event, null);
  }

  @Test
  void eachTierHasItsOwnBlocksAndCounts() {
    log.add(StorageTier.DEVICE, stored(0, null, 1, 2));
    log.add(StorageTier.HOST_PINNED, stored(0, null, 1, 2));
    log.add(StorageTier.DISK, stored(0, 1L, 2));
    log.add(StorageTier.HOST_PINNED, stored(0, null, 1));
    log.add(StorageTier.HOST_PINNED, removed(0, 1));
    log.add(StorageTier.DEVICE, removed(0, 2));
    log.add(StorageTier.DEVICE, removed(0, 1));
    assertThat(all())
        .isEqualTo(
            new KvReply.TreeDump(
                List.of(
                    below(StorageTier.HOST_PINNED, stored(0, null, 1, 2)),
                    below(StorageTier.DISK, stored(1, 1L, 2))),
                6));
    log.add(StorageTier.HOST_PINNED, removed(0, 1));
    assertThat(from(7))
        .isEqualTo(new KvReply.Events(List.of(below(StorageTier.HOST_PINNED, removed(7, 1))), 7));
    assertThat(all())
        .as("what follows a block that is gone stays below the device")
        .isEqualTo(
            new KvReply.TreeDump(
                List.of(
                    below(StorageTier.HOST_PINNED, stored(0, 1L, 2)),
                    below(StorageTier.DISK, stored(1, 1L, 2))),
                7));
  }

  @Test
  void aClearIsOneOfAllTiers() {
    log.add(StorageTier.DEVICE, stored(0, null, 1));
    log.add(StorageTier.EXTERNAL, stored(0, null, 1));
    log.add(StorageTier.DEVICE, new KvEvent.Cleared(0));
    assertThat(all()).isEqualTo(dump(3));
    log.add(StorageTier.EXTERNAL, removed(0, 1));
    assertThat(from(4)).as("the counts are cleared, too").isInstanceOf(KvReply.Events.class);
  }

  @Test
  void tiersThatDoNotFitAReplyAreLeftOut() {
    var small = new RankLog(RANK, 3);
    small.add(StorageTier.DEVICE, stored(0, null, 1, 2));
    small.add(StorageTier.HOST_PINNED, stored(0, null, 1));
    small.add(StorageTier.DISK, stored(0, null, 1));
    assertThat(small.answer(KvQuery.ofAll(RANK)))
        .isEqualTo(
            new KvReply.TreeDump(
                List.of(
                    new RankEvent(RANK, stored(0, null, 1, 2)),
                    below(StorageTier.HOST_PINNED, stored(1, null, 1))),
                3));
  }
}
