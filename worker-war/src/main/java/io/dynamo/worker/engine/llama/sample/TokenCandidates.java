package io.dynamo.worker.engine.llama.sample;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.worker.engine.sampling.SamplingPlan;
import java.util.Arrays;

/**
 * The tokens that may be drawn, with their weights. Scratch of one thread, as large as the
 * vocabulary. Every step uses a fixed order, so equal logits draw equal tokens.
 */
final class TokenCandidates {
  private final int[] ids;
  private final double[] weights;
  private final long[] keys; // sorted by falling logit, then rising id
  private int count;

  TokenCandidates(int vocabulary) {
    this.ids = new int[vocabulary];
    this.weights = new double[vocabulary];
    this.keys = new long[vocabulary];
  }

  /**
   * Draws one token of {@code logits} by {@code number}, from 0 to below 1.
   *
   * @throws InvalidRequestException when no token may be drawn
   */
  int draw(SamplingPlan plan, float[] logits, int at, double number) {
    fill(plan, logits, at);
    if (count == 0) {
      throw nothingLeft();
    }
    if ((plan.topK() > 0 && plan.topK() < count) || plan.topP() < 1f) {
      sort(logits, at);
      cut(plan);
    }
    double total = 0;
    for (int i = 0; i < count; i++) {
      total += weights[i];
    }
    double target = number * total;
    double sum = 0;
    for (int i = 0; i < count; i++) {
      sum += weights[i];
      if (sum > target) {
        return ids[i];
      }
    }
    return ids[count - 1];
  }

  static InvalidRequestException nothingLeft() {
    return new InvalidRequestException("the options leave no token to draw");
  }

  /** Collects all tokens whose weight relative to the likeliest is at least min-p, by rising id. */
  private void fill(SamplingPlan plan, float[] logits, int at) {
    int vocabulary = ids.length;
    float max = Float.NEGATIVE_INFINITY;
    for (int id = 0; id < vocabulary; id++) {
      max = Math.max(max, logits[at + id]);
    }
    count = 0;
    for (int id = 0; id < vocabulary; id++) {
      double weight = Math.exp(((double) logits[at + id] - max) / plan.temperature());
      if (weight > 0 && weight >= plan.minP()) {
        ids[count] = id;
        weights[count++] = weight;
      }
    }
  }

  private void sort(float[] logits, int at) {
    for (int i = 0; i < count; i++) {
      int bits = Float.floatToRawIntBits(logits[at + ids[i]]);
      int rising = bits ^ (bits >> 31 & Integer.MAX_VALUE); // signed order of the float
      keys[i] = (long) ~rising << 32 | i;
    }
    Arrays.sort(keys, 0, count);
    var unsortedIds = Arrays.copyOf(ids, count);
    var unsorted = Arrays.copyOf(weights, count);
    for (int i = 0; i < count; i++) {
      int from = (int) keys[i];
      ids[i] = unsortedIds[from];
      weights[i] = unsorted[from];
    }
  }

  /** Keeps the first k, then the fewest that together have the share p; at least one. */
  private void cut(SamplingPlan plan) {
    if (plan.topK() > 0) {
      count = Math.min(count, plan.topK());
    }
    if (plan.topP() < 1f) {
      double total = 0;
      for (int i = 0; i < count; i++) {
        total += weights[i];
      }
      double share = plan.topP() * total;
      double sum = weights[0];
      int kept = 1;
      while (kept < count && sum < share) {
        sum += weights[kept++];
      }
      count = kept;
    }
  }
}
