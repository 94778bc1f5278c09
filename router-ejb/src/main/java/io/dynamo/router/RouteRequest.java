package io.dynamo.router;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.WorkerSet;
import java.time.Duration;
import java.util.Set;

/**
 * A request that needs a worker.
 *
 * @param workers the workers that may serve it: those of a model, or of an adapter
 * @param tokenIds the prompt; owned by the caller, not changed
 * @param blockTokens tokens per KV block of the model; at least 1
 * @param excluded workers that failed this request before
 * @param hints the client's hints on where and when it is served
 * @param deadline the time after which it no longer waits for a worker
 * @param cancellation ends a wait when it is raised to kill
 */
public record RouteRequest(
    String requestId,
    WorkerSet workers,
    int[] tokenIds,
    int blockTokens,
    Set<InstanceId> excluded,
    RouteHints hints,
    Deadline deadline,
    Cancellation cancellation) {
  private static final Duration LONGEST = Duration.ofMinutes(10);

  public RouteRequest {
    if (blockTokens < 1) {
      throw new IllegalArgumentException(
          "blocks of %d tokens for %s; the model card must say kv_cache_block_size"
              .formatted(blockTokens, workers));
    }
    excluded = Set.copyOf(excluded);
  }

  /** Returns the endpoint whose workers may serve the request. */
  public EndpointId endpoint() {
    return workers.endpoint();
  }

  /** Makes a request without hints, with a deadline of 10 minutes, that nobody cancels. */
  public RouteRequest(
      String requestId,
      WorkerSet workers,
      int[] tokenIds,
      int blockTokens,
      Set<InstanceId> excluded) {
    this(
        requestId,
        workers,
        tokenIds,
        blockTokens,
        excluded,
        RouteHints.NONE,
        Deadline.after(LONGEST),
        new Cancellation());
  }
}
