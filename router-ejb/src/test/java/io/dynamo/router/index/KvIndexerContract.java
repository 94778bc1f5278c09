package io.dynamo.router.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.index.KvIndexer.Outcome;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The contract of every index. */
abstract class KvIndexerContract {
  private static final WorkerRank ONE = new WorkerRank(new InstanceId(1), 0);
  private static final WorkerRank ONE_B = new WorkerRank(new InstanceId(1), 1);
  private static final WorkerRank TWO = new WorkerRank(new InstanceId(-2), 0);

  abstract KvIndexer newIndexer();

  private static BlockHashes prompt(long... contents) {
    return BlockHashes.ofBlocks(contents);
  }

  /** Returns an event that stores blocks; a block's name is its content plus 100. */
  private static KvEvent stored(@Nullable Long parentContent, long... contents) {
    var blocks = new ArrayList<StoredBlock>();
    for (long content : contents) {
      blocks.add(new StoredBlock(new SequenceHash(100 + content), new BlockHash(content)));
    }
    return new KvEvent.Stored(
        1, parentContent == null ? null : new SequenceHash(100 + parentContent), blocks);
  }

  private static KvEvent removed(long... contents) {
    return new KvEvent.Removed(
        1, LongStream.of(contents).mapToObj(it -> new SequenceHash(100 + it)).toList());
  }

  @ParameterizedTest
  @CsvSource({"1,3", "2,3", "3,5", "5,9", "8,40", "13,70"}) // the seed names the failing run
  void agreesWithTheNaiveIndexer(long seed, int workers) {
    var oracle = new NaiveKvIndexer();
    var indexer = newIndexer();
    int matched = 0;
    for (var step : KvWorkload.random(seed, 10_000, workers)) {
      switch (step) {
        case KvWorkload.Step.Event(var rank, var event, _) ->
            assertThat(indexer.apply(rank, event))
                .as("%s", step)
                .isEqualTo(oracle.apply(rank, event));
        case KvWorkload.Step.Forget(var worker, _) -> {
          indexer.forget(worker);
          oracle.forget(worker);
        }
      }
      var expected = oracle.match(step.probe());
      assertThat(indexer.match(step.probe())).as("%s", step).isEqualTo(expected);
      matched += expected.size();
    }
    assertThat(matched).as("the workload asks for blocks that are there").isGreaterThan(1000);
  }

  @Test
  void countsLeadingBlocksOfEachRank() {
    var indexer = newIndexer();
    indexer.apply(ONE, stored(null, 1, 2, 3, 4));
    indexer.apply(TWO, stored(null, 1, 2));
    var scores = indexer.match(prompt(1, 2, 3, 9));
    assertThat(scores.blocks(ONE)).isEqualTo(3);
    assertThat(scores.blocks(TWO)).isEqualTo(2);
    assertThat(scores.blocks(ONE_B)).isZero();
    assertThat(scores.size()).isEqualTo(2);
  }

  @Test
  void aStoreBehindAnUnknownParentIsDropped() {
    var indexer = newIndexer();
    indexer.apply(TWO, stored(null, 1));
    assertThat(indexer.apply(ONE, stored(1L, 2))).isEqualTo(Outcome.PARENT_NOT_FOUND);
    assertThat(indexer.match(prompt(1, 2)).blocks(ONE)).isZero();
    assertThat(indexer.match(prompt(2)).size()).isZero();
  }

  @Test
  void aRemovedMiddleBlockTakesWhatFollows() {
    var indexer = newIndexer();
    indexer.apply(ONE, stored(null, 1, 2, 3, 4));
    indexer.apply(TWO, stored(null, 1, 2, 3, 4));
    assertThat(indexer.apply(ONE, removed(2))).isEqualTo(Outcome.OK);
    assertThat(indexer.match(prompt(1, 2, 3, 4)).blocks(ONE)).isEqualTo(1);
    indexer.apply(ONE, stored(1L, 2));
    assertThat(indexer.match(prompt(1, 2, 3, 4)).blocks(ONE)).isEqualTo(2);
    assertThat(indexer.match(prompt(1, 2, 3, 4)).blocks(TWO)).isEqualTo(4);
  }

  @Test
  void aRemovalOfUnknownBlocksRemovesTheKnownOnes() {
    var indexer = newIndexer();
    indexer.apply(ONE, stored(null, 1, 2, 3));
    assertThat(indexer.apply(ONE, removed(77, 3))).isEqualTo(Outcome.BLOCK_NOT_FOUND);
    assertThat(indexer.apply(TWO, removed(1))).isEqualTo(Outcome.BLOCK_NOT_FOUND);
    assertThat(indexer.match(prompt(1, 2, 3)).blocks(ONE)).isEqualTo(2);
  }

  @Test
  void clearingOneRankLeavesTheOthersOfItsWorker() {
    var indexer = newIndexer();
    indexer.apply(ONE, stored(null, 1, 2));
    indexer.apply(ONE_B, stored(null, 1, 2));
    assertThat(indexer.apply(ONE, new KvEvent.Cleared(2))).isEqualTo(Outcome.OK);
    assertThat(indexer.match(prompt(1, 2)).blocks(ONE)).isZero();
    assertThat(indexer.match(prompt(1, 2)).blocks(ONE_B)).isEqualTo(2);
    assertThat(indexer.apply(ONE, stored(2L, 3))).isEqualTo(Outcome.PARENT_NOT_FOUND);
  }

  @Test
  void forgottenWorkerNoLongerScores() {
    var indexer = newIndexer();
    for (var rank : List.of(ONE, ONE_B, TWO)) {
      indexer.apply(rank, stored(null, 1, 2));
    }
    indexer.forget(ONE.worker());
    indexer.forget(new InstanceId(999));
    var scores = indexer.match(prompt(1, 2));
    assertThat(scores.size()).isEqualTo(1);
    assertThat(scores.blocks(TWO)).isEqualTo(2);
  }

  @Test
  void anEmptyPromptMatchesNobody() {
    var indexer = newIndexer();
    indexer.apply(ONE, stored(null, 1, 2));
    assertThat(indexer.match(prompt()).size()).isZero();
  }
}
