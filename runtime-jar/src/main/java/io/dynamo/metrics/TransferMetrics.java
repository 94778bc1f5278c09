package io.dynamo.metrics;

/** The metrics of moves of bytes between processes. */
public final class TransferMetrics {
  public static final MetricName WRITTEN_BYTES =
      new MetricName(
          "dynamo_transfer_written_bytes_total",
          "Bytes that this process wrote into regions of others, by the way they took.");

  public static final MetricName READ_BYTES =
      new MetricName(
          "dynamo_transfer_read_bytes_total",
          "Bytes that this process read from regions of others, by the way they took.");

  private TransferMetrics() {}
}
