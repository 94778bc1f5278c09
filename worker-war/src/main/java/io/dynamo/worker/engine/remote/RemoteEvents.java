package io.dynamo.worker.engine.remote;

import io.dynamo.worker.engine.remote.blocks.EngineBlocks;
import java.util.List;
import java.util.function.IntFunction;

/** Follows KV events that servers publish. Safe for concurrent use. */
public interface RemoteEvents {
  /**
   * Starts to follow the events of all ranks, until the result is closed.
   *
   * @param endpoints where each rank publishes
   * @param blocks gives the translation of a rank's events; each is used by one thread at a time
   */
  RemoteEventSubscription follow(List<KvEventEndpoint> endpoints, IntFunction<EngineBlocks> blocks);

  /** The events that are followed, ended by closing it. Idempotent. */
  interface RemoteEventSubscription extends AutoCloseable {
    @Override
    void close();
  }
}
