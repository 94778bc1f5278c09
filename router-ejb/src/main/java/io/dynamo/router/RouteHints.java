package io.dynamo.router;

import io.dynamo.discovery.InstanceId;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The client's wishes on where and when its request is served. Read from the wire by {@link
 * HintsReader}.
 *
 * @param pinnedWorker the only worker that may serve; null is no pin
 * @param pinnedRank the only rank of the pinned worker; null is any
 * @param allowedWorkers null is all
 * @param requiredTaints every one of them must be among a worker's
 * @param preferredTaints weights from −1 to 1; those that a worker has make it cheaper
 * @param loraName the adapter, which narrows to workers that have it; null is the model itself
 * @param cacheSalt blocks are equal within one salt only; null is none
 * @param expectedOutputTokens null is not known
 * @param priorityJumpSeconds how much longer the request counts as having waited; at least 0
 * @param strictPriority higher goes first, whatever has waited
 * @param policyClass the class or family of classes in which it waits; null is the default
 * @param sessionId requests of one session go to one rank, where affinity is on
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
   * A session id of more bytes is refused, by readers of requests and of events; Dynamo's bound.
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

  /** No hint but the worker, and perhaps its rank. */
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

  /** The same hints for the session {@code id}. */
  public RouteHints ofSession(@Nullable String id) {
    return in(policyClass, id);
  }

  /** The same hints for a request of {@code policyClass}. */
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
