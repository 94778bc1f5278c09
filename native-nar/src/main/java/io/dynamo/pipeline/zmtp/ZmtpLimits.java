package io.dynamo.pipeline.zmtp;

/**
 * The bounds of one connection.
 *
 * @param maxFrameBytes the most bytes of one frame that arrives; a peer that announces more is
 *     disconnected
 * @param queuedMessages the most messages that wait to be written; more are dropped, for this peer
 *     alone
 * @param queuedBytes the most bytes of those; a single message may be larger
 */
public record ZmtpLimits(int maxFrameBytes, int queuedMessages, long queuedBytes) {
  public ZmtpLimits {
    if (maxFrameBytes < 1 || queuedMessages < 1 || queuedBytes < 1) {
      throw new IllegalArgumentException(
          "limits of %d bytes a frame, %d messages and %d bytes queued: each must be at least 1"
              .formatted(maxFrameBytes, queuedMessages, queuedBytes));
    }
  }
}
