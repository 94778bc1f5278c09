package io.dynamo.worker.engine.remote;

import io.dynamo.worker.engine.remote.blocks.EngineBlocks;

/**
 * KV events that a server gives over HTTP, for dialects of such servers. Safe for concurrent use.
 */
public interface PolledEvents {
  /** Whether the server that was asked publishes events. */
  boolean publishesEvents();

  /**
   * Starts to follow the events of rank 0, until the result is closed.
   *
   * @param blocks translates them; used by one thread at a time
   */
  RemoteEvents.RemoteEventSubscription follow(
      EngineHttp http, RemoteFacts facts, EngineBlocks blocks);
}
