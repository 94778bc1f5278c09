package io.dynamo.router.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import java.time.Duration;
import java.util.HashMap;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PredictedIndexTest {
  private static final WorkerRank A = new WorkerRank(new InstanceId(1), 0);
  private static final WorkerRank B = new WorkerRank(new InstanceId(2), 1);
  private static final BlockHashes PROMPT = BlockHashes.ofBlocks(1, 2, 3);

  private final AtomicLong nanos = new AtomicLong();
  private final PredictedIndex index = new PredictedIndex(Duration.ofSeconds(1), nanos::get);

  private void at(long millis) {
    nanos.set(Duration.ofMillis(millis).toNanos());
  }

  @Test
  void aDecisionIsBelievedForItsTime() {
    index.placed(A, PROMPT);
    at(750);
    assertThat(index.match(PROMPT).blocks(A)).isEqualTo(3);
    at(1150);
    assertThat(index.match(PROMPT)).isEqualTo(OverlapScores.NONE);
    assertThat(index.size()).isZero();
  }

  @Test
  void theEndIsRoundedUpToATenthOfASecond() {
    at(10);
    index.placed(A, PROMPT);
    at(1099);
    assertThat(index.match(PROMPT).blocks(A)).isEqualTo(3);
    at(1100);
    assertThat(index.match(PROMPT).blocks(A)).isZero();
  }

  @Test
  void placingAgainBeginsAnew() {
    index.placed(A, PROMPT);
    at(900);
    index.placed(A, BlockHashes.ofBlocks(1, 2, 9));
    at(1500);
    assertThat(index.match(PROMPT).blocks(A)).as("what both share stays").isEqualTo(2);
    at(2000);
    assertThat(index.match(PROMPT).blocks(A)).isZero();
  }

  @Test
  void ranksAreApart() {
    index.placed(A, PROMPT);
    index.placed(B, BlockHashes.ofBlocks(1));
    var scores = index.match(PROMPT);
    assertThat(scores.blocks(A)).isEqualTo(3);
    assertThat(scores.blocks(B)).isEqualTo(1);
    index.forget(A.worker());
    assertThat(index.match(PROMPT).blocks(A)).isZero();
    assertThat(index.match(PROMPT).blocks(B)).isEqualTo(1);
    assertThat(index.workers()).containsExactly(B.worker());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8})
  void agreesWithARecordOfWhenEachPrefixWasPlacedLast(long seed) {
    var random = new Random(seed);
    var lastPlaced = new HashMap<Long, Long>(); // prefix of A -> end, in milliseconds
    long now = 0;
    for (int step = 0; step < 2000; step++) {
      now += random.nextInt(4) * 100L;
      at(now);
      var contents = new long[1 + random.nextInt(5)];
      for (int i = 0; i < contents.length; i++) {
        contents[i] = 1L + random.nextInt(3);
      }
      var prompt = BlockHashes.ofBlocks(contents);
      int expected = 0;
      while (expected < prompt.length()
          && lastPlaced.getOrDefault(prompt.sequence(expected), 0L) > now) {
        expected++;
      }
      assertThat(index.match(prompt).blocks(A))
          .as("seed %d, step %d", seed, step)
          .isEqualTo(expected);
      if (random.nextInt(3) == 0) {
        index.placed(A, prompt);
        for (int i = 0; i < prompt.length(); i++) {
          lastPlaced.put(prompt.sequence(i), now + 1000);
        }
      }
    }
  }
}
