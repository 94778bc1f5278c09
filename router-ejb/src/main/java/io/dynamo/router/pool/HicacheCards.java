package io.dynamo.router.pool;

import io.dynamo.discovery.WorkerSet;
import java.util.List;

/**
 * What model cards say of the cache that workers of SGLang share. Safe for concurrent use; never
 * blocks.
 */
public interface HicacheCards {
  /** The name under which a card's {@code runtime_data} says it. */
  String NAME = "sglang_hicache_mooncake";

  /** What the workers of {@code workers} say, as JSON has it; nothing of those that say nothing. */
  List<Object> hicache(WorkerSet workers);
}
