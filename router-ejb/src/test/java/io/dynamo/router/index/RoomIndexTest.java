package io.dynamo.router.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RoomIndexTest {
  private static final WorkerRank A = new WorkerRank(new InstanceId(1), 0);
  private static final WorkerRank B = new WorkerRank(new InstanceId(2), 0);

  private final AtomicLong evicted = new AtomicLong();
  private final RoomIndex index = new RoomIndex(evicted::addAndGet);

  private static BlockHashes prompt(long... blocks) {
    return BlockHashes.ofBlocks(blocks);
  }

  private int held(WorkerRank rank, long... blocks) {
    return index.match(prompt(blocks)).blocks(rank);
  }

  @Test
  void aPromptStaysUntilItsRoomIsNeeded() {
    index.placed(A, prompt(1, 2, 3), 6).close();
    index.placed(A, prompt(4, 5, 6), 6).close();
    assertThat(held(A, 1, 2, 3)).isEqualTo(3);
    index.placed(A, prompt(7, 8), 6).close();
    assertThat(held(A, 1, 2, 3)).as("its end goes first").isEqualTo(1);
    assertThat(held(A, 4, 5, 6)).isEqualTo(3);
    assertThat(evicted).hasValue(2);
    assertThat(index.size()).isEqualTo(6);
  }

  @Test
  void useKeepsABlock() {
    index.placed(A, prompt(1, 2, 3), 6).close();
    index.placed(A, prompt(4, 5, 6), 6).close();
    index.placed(A, prompt(1, 2), 6).close();
    index.placed(A, prompt(7, 8, 9), 6).close();
    assertThat(held(A, 1, 2, 3)).isEqualTo(2);
    assertThat(held(A, 4, 5, 6)).isEqualTo(1);
  }

  @Test
  void blocksOfOpenRequestsAreNeverEvicted() {
    var open = index.placed(A, prompt(1, 2, 3), 2);
    var other = index.placed(A, prompt(1, 9), 2);
    assertThat(held(A, 1, 2, 3)).isEqualTo(3);
    assertThat(held(A, 1, 9)).isEqualTo(2);
    assertThat(index.holds()).isEqualTo(2);
    open.close();
    open.close();
    assertThat(held(A, 1, 2, 3)).as("nobody has needed the room").isEqualTo(3);
    index.placed(A, prompt(5), 2).close();
    assertThat(held(A, 1, 2, 3)).as("the other request has its beginning").isEqualTo(1);
    other.close();
    assertThat(index.holds()).isZero();
  }

  @Test
  void ranksAreApartAndALostWorkerIsForgotten() {
    var open = index.placed(A, prompt(1, 2), 10);
    index.placed(B, prompt(1), 10).close();
    assertThat(index.workers()).containsExactlyInAnyOrder(A.worker(), B.worker());
    index.forget(A.worker());
    assertThat(held(A, 1, 2)).isZero();
    assertThat(held(B, 1, 2)).isEqualTo(1);
    index.placed(A, prompt(1, 2), 10).close();
    open.close();
    assertThat(held(A, 1, 2)).as("an old request ends unheard").isEqualTo(2);
  }

  @Test
  void aPromptWithoutAWholeBlockHoldsNothing() {
    assertThat(index.placed(A, prompt(), 1)).isSameAs(RoomIndex.Hold.NONE);
  }

  /** Compares the index with a model of plain lists: open prompts, then ended ones by age. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8})
  void agreesWithAPlainModel(long seed) {
    var random = new Random(seed);
    int room = 40;
    Map<Long, Integer> users = new LinkedHashMap<>();
    List<Long> unused = new ArrayList<>();
    var open = new ArrayList<Map.Entry<RoomIndex.Hold, BlockHashes>>();
    for (int step = 0; step < 3_000; step++) {
      if (!open.isEmpty() && random.nextInt(2) == 0) {
        var ended = open.remove(random.nextInt(open.size()));
        ended.getKey().close();
        for (int i = ended.getValue().length() - 1; i >= 0; i--) {
          long hash = ended.getValue().sequence(i);
          if (users.merge(hash, -1, Integer::sum) == 0) {
            unused.add(hash);
          }
        }
      } else if (open.size() < 5) {
        var prompt = prompt(random.ints(1 + random.nextInt(8), 0, 3).asLongStream().toArray());
        open.add(Map.entry(index.placed(A, prompt, room), prompt));
        for (int i = 0; i < prompt.length(); i++) {
          users.merge(prompt.sequence(i), 1, Integer::sum);
          unused.remove(prompt.sequence(i));
        }
        while (users.size() > room && !unused.isEmpty()) {
          users.remove(unused.removeFirst());
        }
      }
      var probe = prompt(random.ints(8, 0, 3).asLongStream().toArray());
      int expected = 0;
      while (expected < 8 && users.containsKey(probe.sequence(expected))) {
        expected++;
      }
      assertThat(index.match(probe).blocks(A)).as("step %d", step).isEqualTo(expected);
    }
    assertThat(index.size()).isEqualTo(users.size());
  }
}
