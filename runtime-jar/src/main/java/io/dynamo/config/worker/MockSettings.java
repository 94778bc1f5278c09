package io.dynamo.config.worker;

import org.jspecify.annotations.Nullable;

/**
 * The settings of the mock engine's simulated passes. Keys: {@code dynamo.worker.mock.*}.
 *
 * @param passTokens limit of the tokens that a pass computes
 * @param chunkedPrefill whether a prompt may be split to fit into a pass
 * @param prefixCaching whether blocks are cached, shared and reported
 * @param victim which sequence is preempted when no blocks are left
 * @param timing source of a pass's duration
 * @param speedup divides that duration
 * @param decodeSpeedup additionally divides the time of decoding
 * @param faultFile describes the faults that the engine shows while the file says so; null for an
 *     engine without faults
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
  /** The rule for which running sequence is preempted, by Dynamo's names. */
  public enum Preemption {
    /** The sequence that was admitted last. */
    LIFO,
    /** The sequence that was admitted first. */
    FIFO
  }

  /** The source of a pass's duration. */
  public enum Timing {
    /** The settings of the pace. */
    LINEAR,
    /** The polynomials of Dynamo's mocker. */
    POLYNOMIAL
  }
}
