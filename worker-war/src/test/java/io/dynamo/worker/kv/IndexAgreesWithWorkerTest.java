package io.dynamo.worker.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.event.local.LocalEventPlane;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics;
import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that the router's index ends up equal to the worker's blocks, even when the plane loses or
 * repeats messages.
 *
 * <p>The model: the blocks of all sequences of {@link #DEPTH} blocks over {@link #FAN_OUT} contents
 * are numbered as a heap, the empty sequence is 0; a rank holds a set of them that is closed under
 * prefixes.
 */
class IndexAgreesWithWorkerTest {
  private static final int RANKS = 3;
  private static final int FAN_OUT = 3;
  private static final int DEPTH = 4;
  private static final int FIRST_LEAF = 40; // 1 + 3 + 9 + 27
  private static final int BLOCKS = 121;
  private static final int STEPS = 1500;
  private static final long LAST = 10_000; // and above: contents of blocks outside the model
  private static final int ROUNDS = 200; // at most, until a part was lost and nothing else
  private static final int QUEUE = 100_000;

  private static int parent(int block) {
    return (block - 1) / FAN_OUT;
  }

  /** Returns the content of a block; many blocks have the same. */
  private static long content(int block) {
    return 1L + (block - 1) % FAN_OUT;
  }

  private static SequenceHash name(int block) {
    return new SequenceHash(5000L + block);
  }

  /** Returns the blocks from the first to {@code block}. */
  private static List<Integer> path(int block) {
    var path = new ArrayList<Integer>();
    for (int at = block; at != 0; at = parent(at)) {
      path.addFirst(at);
    }
    return path;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8, 13})
  void inTheEnd(long seed) throws InterruptedException {
    var plane =
        new LocalEventPlane(
            QUEUE, 1 << 30, new Metrics(), new Random(seed), InstantSource.system());
    try (var fleet = new Fleet(seed, plane)) {
      new Run(seed, fleet).play();
    }
  }

  private static WorkerRank rankOf(int rank) {
    return new WorkerRank(Fleet.WORKER, rank);
  }

  /** One worker and the set of its blocks. For one thread. */
  private static final class Run {
    private final List<Set<Integer>> truth = new ArrayList<>(); // indexed by rank
    private final Random random;
    private final Fleet fleet;
    private Fleet.Telling worker;

    Run(long seed, Fleet fleet) {
      this.random = new Random(seed);
      this.fleet = fleet;
      this.worker = fleet.tell(RANKS);
      for (int rank = 0; rank < RANKS; rank++) {
        truth.add(new TreeSet<>());
      }
    }

    void play() throws InterruptedException {
      fleet.register();
      for (int step = 1; step <= STEPS; step++) {
        fleet.heard.faults(0.10, 0.05);
        if (step == STEPS / 10) {
          fleet.follow();
        }
        if (step % 400 == 0) {
          restart();
        }
        change(random.nextInt(RANKS));
        if (step % 300 == 0) {
          settle(LAST + step);
        }
      }
      for (int round = 1; round <= ROUNDS && !hasAskedForPart(); round++) {
        fleet.heard.faults(0.30, 0);
        for (int i = 0; i < 20; i++) {
          change(random.nextInt(RANKS));
        }
        settle(LAST + STEPS + round);
      }
      assertThat(fleet.heard.lost()).isPositive();
      assertThat(fleet.asked)
          .as("questions about what was lost")
          .anyMatch(query -> query.startId() != null);
    }

    /** While a slow machine restores a rank as a whole, what is lost meanwhile asks nothing. */
    private boolean hasAskedForPart() {
      return fleet.asked.stream().anyMatch(query -> query.startId() != null);
    }

    /** Stores one more block on each rank without loss, then waits for both sides to agree. */
    private void settle(long content) throws InterruptedException {
      fleet.heard.faults(0, 0);
      for (int rank = 0; rank < RANKS; rank++) {
        var block = new StoredBlock(new SequenceHash(content), new BlockHash(content));
        worker.events.stored(rank, null, List.of(block));
      }
      fleet.index.await(() -> allHold(content) && differences().isEmpty());
    }

    private boolean allHold(long content) {
      for (int rank = 0; rank < RANKS; rank++) {
        if (fleet.index.held(rankOf(rank), content) == 0) {
          return false;
        }
      }
      return true;
    }

    private void restart() {
      worker.close();
      worker = fleet.tell(RANKS);
      truth.forEach(Set::clear);
    }

    private void change(int rank) {
      double kind = random.nextDouble();
      if (kind < 0.60) {
        store(rank, path(1 + random.nextInt(BLOCKS - 1)));
      } else if (kind < 0.99) {
        remove(rank);
      } else {
        worker.events.cleared(rank);
        truth.get(rank).clear();
      }
    }

    /** Stores the blocks of a sequence that the rank lacks, in one event. */
    private void store(int rank, List<Integer> path) {
      var lacking = path.stream().filter(block -> !truth.get(rank).contains(block)).toList();
      if (lacking.isEmpty()) {
        return;
      }
      int before = parent(lacking.getFirst());
      worker.events.stored(
          rank,
          before == 0 ? null : name(before),
          lacking.stream()
              .map(block -> new StoredBlock(name(block), new BlockHash(content(block))))
              .toList());
      truth.get(rank).addAll(lacking);
    }

    /** Removes a block and its descendants, in any order. */
    private void remove(int rank) {
      var held = List.copyOf(truth.get(rank));
      if (held.isEmpty()) {
        return;
      }
      int top = held.get(random.nextInt(held.size()));
      var gone = new ArrayList<>(held.stream().filter(block -> path(block).contains(top)).toList());
      Collections.shuffle(gone, random);
      worker.events.removed(rank, gone.stream().map(IndexAgreesWithWorkerTest::name).toList());
      truth.get(rank).removeAll(gone);
    }

    /** Returns the sequences of which the index holds another prefix than the worker. */
    private List<String> differences() {
      var found = new ArrayList<String>();
      for (int leaf = FIRST_LEAF; leaf < BLOCKS; leaf++) {
        var path = path(leaf);
        long[] contents = path.stream().mapToLong(IndexAgreesWithWorkerTest::content).toArray();
        assertThat(contents).hasSize(DEPTH);
        for (int rank = 0; rank < RANKS; rank++) {
          var holds = truth.get(rank);
          int expected = (int) path.stream().takeWhile(holds::contains).count();
          int actual = fleet.index.held(rankOf(rank), contents);
          if (actual != expected) {
            found.add("rank %d, %s: %d, not %d".formatted(rank, path, actual, expected));
          }
        }
      }
      return found;
    }
  }
}
