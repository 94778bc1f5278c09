package io.dynamo.router.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvIndexQuery;
import io.dynamo.kv.KvIndexReply;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.index.TieredIndexer;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class IndexEndpointTest {
  private static final BlockHashes PROMPT = BlockHashes.ofBlocks(11, 12, 13, 14, 15);
  private static final WorkerRank ONE = new WorkerRank(new InstanceId(1), 0);
  private static final WorkerRank TWO = new WorkerRank(new InstanceId(2), 3);

  private final TieredIndexer index = new TieredIndexer();
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final IndexEndpoint endpoint = new IndexEndpoint(tasks::add);

  private static KvEvent.Stored stored(int from, int to) {
    var blocks = new ArrayList<StoredBlock>();
    for (int i = from; i < to; i++) {
      blocks.add(
          new StoredBlock(new SequenceHash(PROMPT.sequence(i)), new BlockHash(PROMPT.block(i))));
    }
    return new KvEvent.Stored(
        1, from == 0 ? null : new SequenceHash(PROMPT.sequence(from - 1)), blocks);
  }

  private KvIndexReply ask(String model, BlockHashes prompt, @Nullable Boolean deviceOnly) {
    var context = FakeIndexPlane.context(Deadline.after(Duration.ofMinutes(1)));
    var reply =
        FakeIndexPlane.first(endpoint.handle(new KvIndexQuery(model, prompt, deviceOnly), context));
    tasks.forEach(Runnable::run);
    tasks.clear();
    return reply.join();
  }

  private static KvIndexReply.RankOverlap held(WorkerRank rank, int blocks) {
    return new KvIndexReply.RankOverlap(rank, blocks);
  }

  @Test
  void allTiersAreReportedUnlessOnlyTheDeviceIsAskedFor() {
    endpoint.put("m", index);
    var _ = index.apply(ONE, stored(0, 2));
    index.apply(ONE, StorageTier.HOST_PINNED, stored(2, 4));
    index.apply(TWO, StorageTier.DISK, stored(0, 3));
    var device = List.of(held(ONE, 2));
    var below =
        Map.of(
            StorageTier.HOST_PINNED, List.of(held(ONE, 2)),
            StorageTier.DISK, List.of(held(TWO, 3)));
    assertThat(ask("m", PROMPT, false)).isEqualTo(new KvIndexReply.Scores(device, below));
    assertThat(ask("m", PROMPT, null)).isEqualTo(new KvIndexReply.Scores(device, below));
    assertThat(ask("m", PROMPT, true)).isEqualTo(new KvIndexReply.Scores(device, Map.of()));
    assertThat(ask("m", BlockHashes.ofBlocks(7), false))
        .isEqualTo(new KvIndexReply.Scores(List.of(), Map.of()));
  }

  @Test
  void aModelThatIsNotServedIsRefusedInDynamosWords() {
    endpoint.put("m", index);
    assertThat(ask("nope", PROMPT, false))
        .isEqualTo(new KvIndexReply.Refused("served indexer model nope is not registered"));
    assertThat(endpoint.remove("m", new TieredIndexer())).as("not this one's").isFalse();
    assertThat(endpoint.remove("m", index)).isTrue();
    assertThat(endpoint.isEmpty()).isTrue();
    assertThat(ask("m", PROMPT, false)).isInstanceOf(KvIndexReply.Refused.class);
  }

  @Test
  void questionsAreBounded() {
    endpoint.put("m", index);
    var context = FakeIndexPlane.context(Deadline.after(Duration.ofMinutes(1)));
    var query = new KvIndexQuery("m", PROMPT, false);
    for (int i = 0; i < IndexEndpoint.ANSWERING; i++) {
      assertThat(endpoint.handle(query, context)).isNotNull();
    }
    assertThatExceptionOfType(WorkerBusyException.class)
        .isThrownBy(() -> endpoint.handle(query, context));
    tasks.forEach(Runnable::run);
    tasks.clear();
    assertThat(ask("m", PROMPT, false)).isInstanceOf(KvIndexReply.Scores.class);
  }

  @Test
  void stoppedEndpointRefusesQueries() {
    var stopped =
        new IndexEndpoint(
            _ -> {
              throw new RejectedExecutionException("stopped");
            });
    var context = FakeIndexPlane.context(Deadline.after(Duration.ofMinutes(1)));
    for (int i = 0; i <= IndexEndpoint.ANSWERING; i++) {
      assertThatExceptionOfType(WorkerBusyException.class)
          .isThrownBy(() -> stopped.handle(new KvIndexQuery("m", PROMPT, false), context))
          .withMessageContaining("stops");
    }
  }
}
