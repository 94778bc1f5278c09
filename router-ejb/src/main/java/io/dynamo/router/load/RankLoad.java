package io.dynamo.router.load;

import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.HashLongMap;

/**
 * What one rank has in hand. Guarded by the lock of its {@link ActiveSequences}. A prompt's blocks
 * are counted once however many requests share them; as requests hold whole prompts, the set of
 * active blocks is closed under prefixes.
 */
final class RankLoad {
  final WorkerRank rank;
  private final HashLongMap holders = new HashLongMap(); // sequence hash -> requests that hold it
  private long prefillTokens;
  private int requests;

  RankLoad(WorkerRank rank) {
    this.rank = rank;
  }

  void add(BlockHashes prompt, long tokensToPrefill) {
    for (int i = 0; i < prompt.length(); i++) {
      long hash = prompt.sequence(i);
      holders.put(hash, holders.getOrDefault(hash, 0) + 1);
    }
    prefillTokens += tokensToPrefill;
    requests++;
  }

  void prefilled(long tokens) {
    prefillTokens -= tokens;
  }

  void free(BlockHashes prompt) {
    for (int i = 0; i < prompt.length(); i++) {
      long hash = prompt.sequence(i);
      long left = holders.getOrDefault(hash, 0) - 1;
      if (left > 0) {
        holders.put(hash, left);
      } else {
        holders.remove(hash);
      }
    }
    requests--;
  }

  /** Leading blocks of {@code prompt} that are active here, by bisection. */
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

  int blocks() {
    return holders.size();
  }

  long prefillTokens() {
    return prefillTokens;
  }

  int requests() {
    return requests;
  }
}
