package io.dynamo.router;

import io.dynamo.discovery.EndpointId;
import io.dynamo.kv.WorkerRank;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a decision came about: the candidates as they were under the lock of the loads, and why one
 * of them was chosen. Says nothing of what the prompt contains.
 *
 * @param model that was asked for, or the adapter
 * @param mode as in the settings
 * @param waitedNanos from the request's arrival to the decision
 * @param queuedNanos of it in the queue; 0 when there was room at once
 * @param promptTokens with the last, incomplete block
 * @param chosen the rank
 * @param reason in lower case, as {@code least_cost}; {@code pinned} and {@code session} say who
 *     narrowed the candidates
 * @param narrowedBy {@code pin}, {@code session} or {@code none}
 * @param totalCandidates of which at most {@link #MAX_CANDIDATES} are listed, the chosen one among
 *     them
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
  /** The number of candidates that one explanation lists at most. */
  public static final int MAX_CANDIDATES = 1024;

  public RouteExplanation {
    candidates = List.copyOf(candidates);
  }

  /**
   * A rank that might have been chosen. In blocks, where no unit is named; costs are 0 in modes
   * that know none.
   *
   * @param deviceOverlap leading blocks of the prompt on its device
   * @param hostOverlap blocks that follow in host memory
   * @param diskOverlap blocks that follow on disk and farther
   * @param sharedOverlap blocks after those on its device that all workers can fetch; they need not
   *     hang together
   * @param prefillTokens booked there, their first output not out
   * @param activeBlocks of requests there
   * @param addedBlocks of this prompt that are not active there
   * @param requests in flight there
   * @param reported what its worker told last of its load; null when it told nothing of late
   * @param prefillTerm this prompt and what is before it
   * @param creditTerm what is cached takes off it
   * @param sharedTerm what all workers can fetch takes off it
   * @param decodeTerm active and added blocks
   * @param cost by which it was compared; the least wins
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
   * No cost looks at it.
   *
   * @param usedBlocks KV blocks that generations hold
   * @param activeBlocks KV blocks of generations that decode
   * @param prefillTokens prompt tokens being prefilled
   * @param ageNanos since it came
   * @param used whether it was looked at to find out who is busy
   */
  public record Report(
      @Nullable Long usedBlocks,
      @Nullable Long activeBlocks,
      @Nullable Long prefillTokens,
      long ageNanos,
      boolean used) {}
}
