package io.dynamo.router.ingest;

import io.dynamo.discovery.Instance;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import java.util.concurrent.CompletableFuture;

/** Queries a worker once for KV events that were lost. */
public interface KvQueries {
  /**
   * Sends the query to {@code target}. The future fails when no reply comes; cancelling it cancels
   * the query. It completes on any thread, so its dependents must not block.
   */
  CompletableFuture<KvReply> ask(Instance target, KvQuery query);
}
