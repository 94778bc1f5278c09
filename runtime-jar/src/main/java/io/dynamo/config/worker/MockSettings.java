package io.dynamo.config.worker;

import org.jspecify.annotations.Nullable;

/**
 * How the mock engine makes up its passes. Keys: {@code dynamo.worker.mock.*}.
 *
 * @param passTokens tokens that a pass computes at most
 * @param chunkedPrefill whether a prompt may be cut to fit into a pass
 * @param prefixCaching whether blocks are cached, shared and reported
 * @param victim which sequence gives its blocks back when there are none left
 * @param timing how long a pass takes
 * @param speedup divides that
 * @param decodeSpeedup divides the time of decoding once more
 * @param faultFile what the engine does wrong while the file says so; null for an engine that works
 */
public record MockSettings(
    int passTokens,
    boolean chunkedPrefill,
    boolean prefixCaching,
    Preemption victim,
    Timing timing,
    double speedup,
    double decodeSpeedup,
    @Nullable String faultFile) {
  /** Which running sequence is preempted, by Dynamo's names. */
  public enum Preemption {
    /** The one that was admitted last. */
    LIFO,
    /** The one that was admitted first. */
    FIFO
  }

  /** Where the time of a pass comes from. */
  public enum Timing {
    /** From the settings of the pace. */
    LINEAR,
    /** From the polynomials of Dynamo's mocker. */
    POLYNOMIAL
  }
}
