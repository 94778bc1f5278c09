package io.dynamo.router;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import java.time.Duration;
import java.util.Set;

/**
 * A request that wants a worker.
 *
 * @param endpoint who may serve it
 * @param tokenIds the prompt; owned by the caller, not changed
 * @param blockTokens tokens per KV block of the model; at least 1
 * @param excluded workers that failed this request before
 * @param hints what the client says of where and when
 * @param deadline after which it waits for no worker
 * @param cancellation ends a wait when it is raised to kill
 */
public record RouteRequest(
    String requestId,
    EndpointId endpoint,
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
              .formatted(blockTokens, endpoint));
    }
    excluded = Set.copyOf(excluded);
  }

  /** A request without hints that nobody cancels. */
  public RouteRequest(
      String requestId,
      EndpointId endpoint,
      int[] tokenIds,
      int blockTokens,
      Set<InstanceId> excluded) {
    this(
        requestId,
        endpoint,
        tokenIds,
        blockTokens,
        excluded,
        RouteHints.NONE,
        Deadline.after(LONGEST),
        new Cancellation());
  }
}
