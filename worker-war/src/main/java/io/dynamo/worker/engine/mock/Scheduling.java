package io.dynamo.worker.engine.mock;

/**
 * The scheduling options of a {@link MockEngine}'s rank, in vLLM's terms.
 *
 * @param passTokens tokens that a pass computes at most ({@code max_num_batched_tokens})
 * @param chunkedPrefill whether a prompt may be split to fit into a pass
 * @param prefixCaching whether blocks are cached, shared and reported by events
 * @param victim which sequence is preempted when no blocks are left
 * @param timing how long a pass takes
 * @param speedup divides that time; 1 is as modelled
 * @param decodeSpeedup divides the time of decoding once more
 */
public record Scheduling(
    int passTokens,
    boolean chunkedPrefill,
    boolean prefixCaching,
    Victim victim,
    PassTiming timing,
    double speedup,
    double decodeSpeedup) {
  /** The generation that is preempted when blocks run out. */
  public enum Victim {
    /** The generation that was admitted last. */
    NEWEST,
    /** The generation that was admitted first. */
    OLDEST
  }

  public Scheduling {
    if (passTokens < 1) {
      throw new IllegalArgumentException("passTokens " + passTokens + " is below 1");
    }
    if (!(speedup > 0) || !(decodeSpeedup > 0)) {
      throw new IllegalArgumentException(
          "speedup %s and decodeSpeedup %s must be above 0".formatted(speedup, decodeSpeedup));
    }
  }

  /** Returns vLLM's defaults with the given {@code timing}. */
  public static Scheduling of(PassTiming timing) {
    return new Scheduling(8192, true, true, Victim.NEWEST, timing, 1, 1);
  }
}
