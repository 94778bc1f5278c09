package io.dynamo.router;

import io.dynamo.discovery.EndpointId;
import io.dynamo.kv.WorkerRank;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Explains a routing decision: the candidates as they were under the lock of the loads, and why one
 * of them was chosen. Contains nothing of the prompt's content.
 *
 * @param model the requested model or adapter
 * @param mode the router mode, as in the settings
 * @param waitedNanos nanoseconds from the request's arrival to the decision
 * @param queuedNanos the part of {@code waitedNanos} spent in the queue; 0 when there was room at
 *     once
 * @param promptTokens prompt length in tokens, with the last, incomplete block
 * @param chosen the chosen rank
 * @param reason in lower case, as {@code least_cost}; {@code pinned} and {@code session} mean that
 *     a pin or a session narrowed the candidates
 * @param narrowedBy {@code pin}, {@code session} or {@code none}
 * @param totalCandidates number of candidates, of which at most {@link #MAX_CANDIDATES} are listed,
 *     the chosen one among them
 */
public record RouteExplanation(
    String requestId,
    EndpointId endpoint,
    String model,
    Instant at,
    String mode,
    long waitedNanos,
    long queuedNanos,
    int promptTokens,
    int blockTokens,
    WorkerRank chosen,
    String reason,
    String narrowedBy,
    int totalCandidates,
    List<Candidate> candidates) {
  /** The greatest number of candidates that one explanation lists. */
  public static final int MAX_CANDIDATES = 1024;

  public RouteExplanation {
    candidates = List.copyOf(candidates);
  }

  /**
   * A rank that could have been chosen. The unit is blocks unless another is named; costs are 0 in
   * modes that compute none.
   *
   * @param deviceOverlap leading blocks of the prompt on the rank's device
   * @param hostOverlap blocks of the prompt that follow in host memory
   * @param diskOverlap blocks of the prompt that follow on disk and farther tiers
   * @param sharedOverlap blocks of the prompt after those on the rank's device that all workers can
   *     fetch; they need not be consecutive
   * @param prefillTokens prompt tokens booked on the rank by requests that have no first token yet
   * @param activeBlocks blocks of the requests on the rank
   * @param addedBlocks blocks of this prompt that are not active on the rank
   * @param requests requests in flight on the rank
   * @param reported the rank's newest load report; null when there is none or it is too old
   * @param prefillTerm this prompt and the prefill booked before it
   * @param creditTerm the reduction of the cost for cached blocks
   * @param sharedTerm the reduction of the cost for blocks that all workers can fetch
   * @param decodeTerm active and added blocks
   * @param cost the compared value; the least cost wins
   */
  public record Candidate(
      WorkerRank rank,
      int deviceOverlap,
      int hostOverlap,
      int diskOverlap,
      int sharedOverlap,
      long prefillTokens,
      int activeBlocks,
      int addedBlocks,
      int requests,
      @Nullable Report reported,
      double prefillTerm,
      double creditTerm,
      double sharedTerm,
      double decodeTerm,
      double cost) {}

  /**
   * The newest load report of a rank when the decision was made; null components were not reported.
   * Costs do not use it.
   *
   * @param usedBlocks KV blocks in use by generations
   * @param activeBlocks KV blocks of generations that decode
   * @param prefillTokens prompt tokens being prefilled
   * @param ageNanos nanoseconds since the report arrived
   * @param used whether the report was read to decide which workers are busy
   */
  public record Report(
      @Nullable Long usedBlocks,
      @Nullable Long activeBlocks,
      @Nullable Long prefillTokens,
      long ageNanos,
      boolean used) {}
}
