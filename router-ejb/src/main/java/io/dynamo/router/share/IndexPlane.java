package io.dynamo.router.share;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.kv.KvIndexQuery;
import io.dynamo.kv.KvIndexReply;
import io.dynamo.router.index.TieredIndexer;
import java.util.concurrent.CompletableFuture;

/** The way between routers that share an index. Safe for concurrent use. */
public interface IndexPlane {
  /** An index that answers. */
  interface Serving extends AutoCloseable {
    /** It answers no more. Idempotent. */
    @Override
    void close();
  }

  /**
   * Answers for the workers of {@code model} by {@code index} from now on, in place of an earlier
   * index of the model.
   *
   * @param workers their endpoint; the answering one stands beside it
   */
  Serving serve(EndpointId workers, String model, TieredIndexer index);

  /**
   * Asks one of those who answer for {@code workers}. To cancel the future gives the question up.
   *
   * @return fails when nobody answers
   */
  CompletableFuture<KvIndexReply> ask(EndpointId workers, KvIndexQuery query, Deadline deadline);
}
