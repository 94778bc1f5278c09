package io.dynamo.router;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import java.util.Set;

/**
 * A request that wants a worker.
 *
 * @param endpoint who may serve it
 * @param tokenIds the prompt; owned by the caller, not changed
 * @param blockTokens tokens per KV block of the model; at least 1
 * @param excluded workers that failed this request before
 */
public record RouteRequest(
    String requestId,
    EndpointId endpoint,
    int[] tokenIds,
    int blockTokens,
    Set<InstanceId> excluded) {
  public RouteRequest {
    if (blockTokens < 1) {
      throw new IllegalArgumentException(
          "blocks of %d tokens for %s; the model card must say kv_cache_block_size"
              .formatted(blockTokens, endpoint));
    }
    excluded = Set.copyOf(excluded);
  }
}
