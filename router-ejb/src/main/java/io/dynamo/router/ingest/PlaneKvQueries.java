package io.dynamo.router.ingest;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Instance;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.request.EndpointClient;
import io.dynamo.wire.MessageCodec;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Sends KV queries over the request plane; replies are decoded on the executor. Safe for concurrent
 * use.
 */
public final class PlaneKvQueries implements KvQueries {
  private final PlaneQuestions<KvQuery, KvReply> questions;

  /**
   * Creates a sender of KV queries.
   *
   * @param executor decodes replies; decoding a dump may take long
   */
  public PlaneKvQueries(
      EndpointClient client, MessageCodec<KvQuery, KvReply> codec, Executor executor) {
    this.questions = new PlaneQuestions<>(client, codec, executor);
  }

  @Override
  public CompletableFuture<KvReply> ask(Instance target, KvQuery query) {
    return questions.ask(target, query, Deadline.after(Recoveries.ATTEMPT));
  }
}
