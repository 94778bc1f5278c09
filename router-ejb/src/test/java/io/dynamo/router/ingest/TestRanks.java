package io.dynamo.router.ingest;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import io.dynamo.router.index.KvIndexer;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import java.util.List;

/** Two ranks of one worker, their sources and their events, for tests of intakes. */
final class TestRanks {
  static final EndpointId ENDPOINT = new EndpointId("n", "c", "e");
  static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);
  static final WorkerRank SIBLING = new WorkerRank(new InstanceId(1), 1);

  private TestRanks() {}

  /**
   * The source of a rank.
   *
   * @param recoverable whether it can be asked for its blocks
   */
  static KvEventSource source(WorkerRank rank, long publisher, boolean recoverable) {
    var name = KvEventSource.queryEndpoint(publisher);
    var target =
        new Instance(
            new EndpointId("n", "c", name),
            rank.worker(),
            new TransportAddress.Tcp("127.0.0.1:1", name),
            "cpu",
            PayloadFormat.MSGPACK);
    return new KvEventSource(ENDPOINT, rank, publisher, recoverable ? target : null);
  }

  /**
   * One stored block.
   *
   * @param parent content of the block before it; 0 for none
   */
  static RankEvent stored(WorkerRank rank, long id, long parent, long content) {
    return new RankEvent(
        rank,
        new KvEvent.Stored(
            id,
            parent == 0 ? null : new SequenceHash(100 + parent),
            List.of(new StoredBlock(new SequenceHash(100 + content), new BlockHash(content)))));
  }

  /** Returns how many of the blocks 1, 2 and 3 the rank holds, from the first one on. */
  static int held(KvIndexer index, WorkerRank rank) {
    return index.match(BlockHashes.ofBlocks(1, 2, 3)).blocks(rank);
  }
}
