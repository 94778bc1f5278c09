package io.dynamo.router.session;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import org.jspecify.annotations.Nullable;

/**
 * Where a session is bound.
 *
 * @param rank null is any of the worker's
 */
public record SessionTarget(InstanceId worker, @Nullable Integer rank) {
  static SessionTarget of(WorkerRank rank) {
    return new SessionTarget(rank.worker(), rank.rank());
  }

  /** Whether a request on {@code placed} has stayed. */
  boolean covers(WorkerRank placed) {
    return worker.equals(placed.worker()) && (rank == null || rank == placed.rank());
  }

  @Override
  public String toString() {
    return rank == null ? worker.toString() : new WorkerRank(worker, rank).toString();
  }
}
