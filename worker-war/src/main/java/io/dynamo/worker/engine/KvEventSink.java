package io.dynamo.worker.engine;

import io.dynamo.kv.StoredBlock;
import io.dynamo.token.SequenceHash;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Receives changes of KV caches from an engine, in order per rank; gives them ids and publishes
 * them. Never blocks the engine.
 */
public interface KvEventSink {
  void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks);

  void removed(int rank, List<SequenceHash> blocks);

  void cleared(int rank);
}
