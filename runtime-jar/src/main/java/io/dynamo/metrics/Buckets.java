package io.dynamo.metrics;

/** Bounds that several of Dynamo's histograms share, in seconds. */
final class Buckets {
  /** The bounds for transit times over a connection. */
  static final double[] TRANSIT = {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1};

  private Buckets() {}
}
