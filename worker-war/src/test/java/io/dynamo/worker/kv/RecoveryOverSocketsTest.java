package io.dynamo.worker.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.kv.EngineKvEvent;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.remote.blocks.EngineBlocks;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests a worker's events, its log and a router's index, over ZeroMQ and TCP. */
class RecoveryOverSocketsTest {
  private static final WorkerRank RANK = new WorkerRank(Fleet.WORKER, 0);
  private static final int[] TOKENS = IntStream.range(0, 12).toArray();
  private static final int NUDGES = 200;
  private static final Duration PAUSE = Duration.ofMillis(50);

  private final Fleet fleet = new Fleet(1);

  @AfterEach
  void close() {
    fleet.close();
  }

  private static void store(Fleet.Telling worker, @Nullable Long parent, long content) {
    worker.events.stored(
        0,
        parent == null ? null : name(parent),
        List.of(new StoredBlock(name(content), new BlockHash(content))));
  }

  private static SequenceHash name(long content) {
    return new SequenceHash(100 + content);
  }

  /** Publishes events without effect until {@code condition} holds: a plane may connect late. */
  private void nudge(Fleet.Telling worker, BooleanSupplier condition) throws InterruptedException {
    for (int i = 0; i < NUDGES; i++) {
      if (fleet.index.await(condition, PAUSE)) {
        return;
      }
      worker.events.removed(0, List.of(name(99)));
    }
    throw new AssertionError("nothing was heard of " + NUDGES + " events");
  }

  @Test
  void aRouterThatComesLateIsToldEverything() throws InterruptedException {
    var worker = fleet.tell(2);
    store(worker, null, 1);
    store(worker, 1L, 2);
    worker.events.stored(1, null, List.of(new StoredBlock(new SequenceHash(7), new BlockHash(3))));
    fleet.register();

    fleet.follow();

    fleet.index.await(() -> fleet.index.held(RANK, 1, 2) == 2);
    fleet.index.await(() -> fleet.index.held(new WorkerRank(Fleet.WORKER, 1), 3) == 1);
    assertThat(fleet.asked)
        .containsExactlyInAnyOrder(
            KvQuery.ofAll(RANK), KvQuery.ofAll(new WorkerRank(Fleet.WORKER, 1)));
  }

  @Test
  void aLostEventIsAskedFor() throws InterruptedException {
    var worker = fleet.tell(1);
    fleet.register();
    fleet.follow();
    store(worker, null, 1);
    nudge(worker, () -> fleet.heard.arrived() > 0 && fleet.index.held(RANK, 1) == 1);
    int before = fleet.asked.size();
    int arrived = fleet.heard.arrived();

    fleet.heard.faults(1, 0);
    store(worker, 1L, 2);
    nudge(worker, () -> fleet.heard.lost() > 0 && fleet.heard.arrived() > arrived);
    assertThat(fleet.index.held(RANK, 1, 2)).isEqualTo(1);
    fleet.heard.faults(0, 0);

    nudge(worker, () -> fleet.index.held(RANK, 1, 2) == 2);
    assertThat(fleet.asked).hasSizeGreaterThan(before);
    assertThat(fleet.asked.get(before).startId()).as("not everything again").isNotNull();
  }

  /** Applies an event of an engine, as its follower does. */
  private static void engine(
      EngineBlocks engine, String medium, @Nullable Long parent, int[] tokens, long... names) {
    engine.apply(new EngineKvEvent.Stored(names, parent, tokens, 4, medium, null, List.of(), null));
  }

  @Test
  void blocksBelowTheDeviceAreHeardOfLiveAndAskedFor() throws InterruptedException {
    var contents = BlockHasher.of(4).hash(TOKENS);
    long[] prompt = {contents.block(0), contents.block(1), contents.block(2)};
    var worker = fleet.tell(1);
    var blocks = EngineBlocks.of(0, 4, 100, worker.events);
    engine(blocks, "GPU", null, TOKENS, 1, 2, 3);
    engine(blocks, "CPU_PINNED", null, new int[0], 2);
    blocks.apply(new EngineKvEvent.Removed(new long[] {2, 3}, "GPU", null));
    fleet.register();
    fleet.follow();
    fleet.index.await(() -> fleet.index.below(RANK, prompt).equals(List.of(1, 0)));
    assertThat(fleet.asked).as("told by the dump").containsExactly(KvQuery.ofAll(RANK));
    assertThat(fleet.index.held(RANK, prompt)).isEqualTo(1);

    engine(blocks, "DISK", 2L, new int[] {8, 9, 10, 11}, 3);
    nudge(worker, () -> fleet.index.below(RANK, prompt).equals(List.of(1, 1)));
    blocks.apply(new EngineKvEvent.Removed(new long[] {2}, "CPU", null));
    nudge(worker, () -> fleet.index.below(RANK, prompt).equals(List.of(0, 0)));

    fleet.heard.faults(1, 0);
    int lost = fleet.heard.lost();
    engine(blocks, "CPU", 1L, new int[] {4, 5, 6, 7}, 2);
    nudge(worker, () -> fleet.heard.lost() > lost);
    fleet.heard.faults(0, 0);
    nudge(worker, () -> fleet.index.below(RANK, prompt).equals(List.of(1, 1)));

    blocks.apply(new EngineKvEvent.Cleared());
    nudge(worker, () -> fleet.index.held(RANK, prompt) == 0);
    assertThat(fleet.index.below(RANK, prompt)).isEqualTo(List.of(0, 0));
  }

  @Test
  void aRestartedPublisherIsBelievedAlone() throws InterruptedException {
    var first = fleet.tell(1);
    fleet.register();
    fleet.follow();
    store(first, null, 1);
    nudge(first, () -> fleet.index.held(RANK, 1) == 1);

    first.close();
    var second = fleet.tell(1);
    store(second, null, 2);

    nudge(second, () -> fleet.index.held(RANK, 2) == 1);
    assertThat(fleet.index.held(RANK, 1)).as("what the first reported").isZero();
  }

  @Test
  void aWorkerThatVanishesIsForgotten() throws InterruptedException {
    var worker = fleet.tell(1);
    store(worker, null, 1);
    var instance = fleet.register();
    fleet.follow();
    fleet.index.await(() -> fleet.index.held(RANK, 1) == 1);

    instance.close(); // its source is still in discovery

    fleet.index.await(() -> fleet.index.held(RANK, 1) == 0);
    fleet.register();
    fleet.index.await(() -> fleet.index.held(RANK, 1) == 1);
  }
}
