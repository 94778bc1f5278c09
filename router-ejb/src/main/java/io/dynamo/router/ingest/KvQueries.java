package io.dynamo.router.ingest;

import io.dynamo.discovery.Instance;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import java.util.concurrent.CompletableFuture;

/** Asks a worker for KV events that were lost, once. */
public interface KvQueries {
  /**
   * Asks {@code target}. The future fails when no reply comes; cancelling it gives up. It completes
   * on any thread, whose work it must not hold up.
   */
  CompletableFuture<KvReply> ask(Instance target, KvQuery query);
}
