package io.dynamo.router.pool;

import io.dynamo.discovery.WorkerSet;
import java.util.List;

/**
 * Looks up the cache that SGLang workers share, as their model cards describe it. Safe for
 * concurrent use; never blocks.
 */
public interface HicacheCards {
  /** The name under which a card's {@code runtime_data} says it. */
  String NAME = "sglang_hicache_mooncake";

  /**
   * The descriptions in the cards of {@code workers} as JSON values; cards without one are left
   * out.
   */
  List<Object> hicache(WorkerSet workers);
}
