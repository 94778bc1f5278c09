package io.dynamo.router.load;

import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.HashLongMap;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The requests, blocks and prompt tokens that are booked on one rank. Guarded by the lock of its
 * {@link ActiveSequences}. A prompt's blocks are counted once however many requests share them; as
 * requests hold whole prompts, the set of active blocks is closed under prefixes.
 */
final class RankBookings {
  final WorkerRank rank;
  private final HashLongMap holders = new HashLongMap(); // sequence hash -> requests that hold it
  private final Map<Long, Double> faded = new HashMap<>(); // 1 − weight, by block hash
  private double missing; // the sum of the values of faded
  private long prefillTokens;
  private int requests;

  RankBookings(WorkerRank rank) {
    this.rank = rank;
  }

  void add(BlockHashes prompt, long tokensToPrefill) {
    for (int i = 0; i < prompt.length(); i++) {
      long hash = prompt.sequence(i);
      holders.put(hash, holders.getOrDefault(hash, 0) + 1);
      restore(hash);
    }
    prefillTokens += tokensToPrefill;
    requests++;
  }

  /** Adds a block that no prompt shares; returns the random hash made up for it. */
  long addOutput() {
    long hash;
    do {
      hash = ThreadLocalRandom.current().nextLong();
    } while (holders.contains(hash));
    holders.put(hash, 1);
    return hash;
  }

  /**
   * Sets the weight of each block that one request alone holds to {@code weight}, from the
   * request's end backwards.
   */
  void fade(BlockHashes prompt, long[] output, int outputs, double weight) {
    for (int i = outputs - 1; i >= 0; i--) {
      fade(output[i], weight);
    }
    for (int i = prompt.length() - 1; i >= 0; i--) {
      long hash = prompt.sequence(i);
      if (holders.getOrDefault(hash, 0) > 1) {
        return;
      }
      fade(hash, weight);
    }
  }

  /** Sets the weight of one block to {@code weight}. */
  void fade(long hash, double weight) {
    var before = faded.put(hash, 1 - weight);
    missing += 1 - weight - (before == null ? 0 : before);
  }

  private void restore(long hash) {
    if (!faded.isEmpty()) {
      var gone = faded.remove(hash);
      missing = faded.isEmpty() ? 0 : missing - (gone == null ? 0 : gone);
    }
  }

  void prefilled(long tokens) {
    prefillTokens -= tokens;
  }

  void free(BlockHashes prompt, long[] output, int outputs) {
    for (int i = 0; i < prompt.length(); i++) {
      long hash = prompt.sequence(i);
      long left = holders.getOrDefault(hash, 0) - 1;
      if (left > 0) {
        holders.put(hash, left);
      } else {
        holders.remove(hash);
        restore(hash);
      }
    }
    for (int i = 0; i < outputs; i++) {
      holders.remove(output[i]);
      restore(output[i]);
    }
    requests--;
  }

  /**
   * Returns the number of leading blocks of {@code prompt} that are active on the rank, by
   * bisection.
   */
  int shared(BlockHashes prompt) {
    int low = 0;
    int high = prompt.length();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (holders.contains(prompt.sequence(middle))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Returns the number of active blocks; each faded block counts by its weight. */
  int blocks() {
    return (int) Math.round(holders.size() - missing);
  }

  long prefillTokens() {
    return prefillTokens;
  }

  int requests() {
    return requests;
  }
}
