package io.dynamo.router.pool;

import io.dynamo.discovery.WorkerSet;
import java.util.List;

/**
 * Looks up the cache that SGLang workers share, as their model cards describe it. Safe for
 * concurrent use; never blocks.
 */
public interface HicacheCards {
  /** The key of the description in a card's {@code runtime_data}. */
  String NAME = "sglang_hicache_mooncake";

  /**
   * Returns the descriptions in the cards of {@code workers} as JSON values; cards without one are
   * left out.
   */
  List<Object> hicache(WorkerSet workers);
}
