package io.dynamo.router;

import io.dynamo.kv.WorkerRank;
import org.jspecify.annotations.Nullable;

/**
 * Decides which prompts a decode worker computes itself although a prefill worker is live: Dynamo's
 * conditional disaggregation. Safe for concurrent use.
 */
public interface LocalPrefill {
  /**
   * Returns the decode rank that should compute a prompt itself. Books nothing and does not wait,
   * so concurrent requests may see the same load.
   *
   * @param decode asks for a decode worker
   * @param prefill asks for a prefill worker for the same prompt
   * @return null when a prefill worker should compute it, also when that cannot be decided
   */
  @Nullable WorkerRank localPrefill(RouteRequest decode, RouteRequest prefill);
}
