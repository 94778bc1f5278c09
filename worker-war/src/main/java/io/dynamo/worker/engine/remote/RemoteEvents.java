package io.dynamo.worker.engine.remote;

import io.dynamo.worker.engine.KvEventSink;

/** A source of the KV events of one server. Safe for concurrent use. */
public interface RemoteEvents {
  /**
   * Starts to follow the events of all ranks, until the result is closed.
   *
   * @param sink receives the changes, each rank's from one thread at a time
   */
  RemoteEventSubscription follow(RemoteFacts facts, KvEventSink sink);

  /** The events that are followed, ended by closing it. Idempotent. */
  interface RemoteEventSubscription extends AutoCloseable {
    @Override
    void close();
  }
}
