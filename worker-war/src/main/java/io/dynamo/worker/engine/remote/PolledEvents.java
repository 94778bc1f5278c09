package io.dynamo.worker.engine.remote;

import io.dynamo.worker.engine.KvEventSink;

/**
 * KV events that a server gives over HTTP, for dialects of such servers. Safe for concurrent use.
 */
public interface PolledEvents {
  /** Whether the server that was asked publishes events. */
  boolean publishesEvents();

  /**
   * Starts to follow the events, until the result is closed.
   *
   * @param sink receives the changes, each rank's from one thread at a time
   */
  RemoteEvents.RemoteEventSubscription follow(EngineHttp http, RemoteFacts facts, KvEventSink sink);
}
