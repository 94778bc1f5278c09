package io.dynamo.model;

import java.util.Map;

/**
 * The mark in the model card of a worker whose engine keeps the prefixes of prompts and publishes
 * no events about them. Dynamo's {@code kv_event_publishing_enabled} does not tell such an engine
 * from one that keeps none.
 */
public final class UnreportedCache {
  private static final String KEY = "unreported_prefix_cache";

  private UnreportedCache() {}

  /** Returns the member of a card's {@code runtime_data} that is the mark. */
  public static Map<String, Object> runtimeData() {
    return Map.of(KEY, true);
  }

  /** Whether a card has the mark. */
  public static boolean of(ModelCard card) {
    return card.runtimeConfig().get("runtime_data") instanceof Map<?, ?> data
        && Boolean.TRUE.equals(data.get(KEY));
  }
}
