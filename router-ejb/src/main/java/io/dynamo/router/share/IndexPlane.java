package io.dynamo.router.share;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.kv.KvIndexQuery;
import io.dynamo.kv.KvIndexReply;
import io.dynamo.router.index.TieredIndexer;
import java.util.concurrent.CompletableFuture;

/** Connects routers that share an index. Safe for concurrent use. */
public interface IndexPlane {
  /** An index that answers queries of other routers. */
  interface Serving extends AutoCloseable {
    /** Stops answering. Idempotent. */
    @Override
    void close();
  }

  /**
   * Starts to answer queries for the workers of {@code model} from {@code index}, in place of an
   * earlier index of the model.
   *
   * @param workers the workers' endpoint; queries are answered at another endpoint of the same
   *     component
   */
  Serving serve(EndpointId workers, String model, TieredIndexer index);

  /**
   * Sends the query to one of the routers that answer for {@code workers}. Cancelling the future
   * cancels the query.
   *
   * @return the answer; fails when no router answers
   */
  CompletableFuture<KvIndexReply> ask(EndpointId workers, KvIndexQuery query, Deadline deadline);
}
