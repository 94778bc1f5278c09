package io.dynamo.router.session;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import org.jspecify.annotations.Nullable;

/**
 * The worker, and perhaps the rank, that a session is bound to.
 *
 * @param rank null is any rank of the worker
 */
public record SessionTarget(InstanceId worker, @Nullable Integer rank) {
  static SessionTarget of(WorkerRank rank) {
    return new SessionTarget(rank.worker(), rank.rank());
  }

  /** Whether a request on {@code placed} runs on this target. */
  boolean covers(WorkerRank placed) {
    return worker.equals(placed.worker()) && (rank == null || rank == placed.rank());
  }

  @Override
  public String toString() {
    return rank == null ? worker.toString() : new WorkerRank(worker, rank).toString();
  }
}
