package io.dynamo.worker.engine;

/**
 * Computes count, sum and population variance of lengths in one pass (Welford), since the lengths
 * may be large. For one thread.
 */
public final class Variance {
  private int count;
  private long sum;
  private double mean;
  private double squares;

  public void clear() {
    count = 0;
    sum = 0;
    mean = 0;
    squares = 0;
  }

  public void add(int value) {
    count++;
    sum += value;
    double off = value - mean;
    mean += off / count;
    squares += off * (value - mean);
  }

  public int count() {
    return count;
  }

  public long sum() {
    return sum;
  }

  /** Returns the population variance; 0 without values. */
  public double value() {
    return count == 0 ? 0 : squares / count;
  }
}
