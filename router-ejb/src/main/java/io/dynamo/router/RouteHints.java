package io.dynamo.router;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The client's hints on where and when its request is served. Read from the wire by {@link
 * HintsReader}.
 *
 * @param pinnedWorker the only worker that may serve; null is no pin
 * @param pinnedRank the only rank of the pinned worker that may serve; null is any
 * @param allowedWorkers the workers that may serve; null is all
 * @param requiredTaints taints that a worker must have, every one of them
 * @param preferredTaints weights from −1 to 1 by taint; a taint that a worker has makes it cheaper
 * @param loraName the adapter, which narrows to workers that have it; null is the model itself
 * @param cacheSalt a label that separates caches: blocks are equal only within one salt; null is
 *     none
 * @param expectedOutputTokens the expected output length in tokens; null is not known
 * @param priorityJumpSeconds seconds that are added to the time the request has waited; at least 0
 * @param strictPriority a higher value goes first, however long others have waited
 * @param policyClass the class or family of classes in which the request waits; null is the default
 * @param sessionId the session; its requests go to one rank, where affinity is on
 */
public record RouteHints(
    @Nullable InstanceId pinnedWorker,
    @Nullable Integer pinnedRank,
    @Nullable Set<InstanceId> allowedWorkers,
    Set<String> requiredTaints,
    Map<String, Double> preferredTaints,
    @Nullable String loraName,
    @Nullable String cacheSalt,
    @Nullable Integer expectedOutputTokens,
    double priorityJumpSeconds,
    int strictPriority,
    @Nullable String policyClass,
    @Nullable String sessionId,
    RouteOverride override) {
  /**
   * The greatest length of a session id, in UTF-8 bytes; readers of requests and of events refuse
   * longer ones. Dynamo's bound.
   */
  public static final int MAX_SESSION_ID_BYTES = 256;

  public static final RouteHints NONE =
      new RouteHints(
          null,
          null,
          null,
          Set.of(),
          Map.of(),
          null,
          null,
          null,
          0,
          0,
          null,
          null,
          RouteOverride.NONE);

  public RouteHints {
    allowedWorkers = allowedWorkers == null ? null : Set.copyOf(allowedWorkers);
    requiredTaints = Set.copyOf(requiredTaints);
    preferredTaints = Map.copyOf(preferredTaints);
    if (!(priorityJumpSeconds >= 0)) {
      throw new IllegalArgumentException("a priority of " + priorityJumpSeconds + " s is below 0");
    }
  }

  /** Returns hints that pin the request to a worker, and to its rank where one is given. */
  public static RouteHints pinnedTo(InstanceId worker, @Nullable Integer rank) {
    return new RouteHints(
        worker,
        rank,
        null,
        Set.of(),
        Map.of(),
        null,
        null,
        null,
        0,
        0,
        null,
        null,
        RouteOverride.NONE);
  }

  /** Returns the same hints with a pin to {@code rank}. */
  public RouteHints onRank(WorkerRank rank) {
    return new RouteHints(
        rank.worker(),
        rank.rank(),
        allowedWorkers,
        requiredTaints,
        preferredTaints,
        loraName,
        cacheSalt,
        expectedOutputTokens,
        priorityJumpSeconds,
        strictPriority,
        policyClass,
        sessionId,
        override);
  }

  /** Returns the same hints with the session {@code id}. */
  public RouteHints ofSession(@Nullable String id) {
    return in(policyClass, id);
  }

  /** Returns the same hints with {@code policyClass}. */
  public RouteHints ofPolicyClass(@Nullable String policyClass) {
    return in(policyClass, sessionId);
  }

  private RouteHints in(@Nullable String policyClass, @Nullable String sessionId) {
    return new RouteHints(
        pinnedWorker,
        pinnedRank,
        allowedWorkers,
        requiredTaints,
        preferredTaints,
        loraName,
        cacheSalt,
        expectedOutputTokens,
        priorityJumpSeconds,
        strictPriority,
        policyClass,
        sessionId,
        override);
  }
}
