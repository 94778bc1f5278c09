package io.dynamo.worker.engine;

import io.dynamo.inference.GenerateRequest;
import org.jspecify.annotations.Nullable;

/**
 * The scope within which KV blocks may be shared: blocks of two scopes are never alike.
 *
 * @param adapter the LoRA adapter that computes; null for the model itself
 * @param salt the client's value that keeps its blocks apart; null for none
 */
public record CacheScope(@Nullable String adapter, @Nullable String salt) {
  /** Returns the scope that the routing hints of {@code request} name. */
  public static CacheScope of(GenerateRequest request) {
    var hints = request.routing().passedOn();
    return new CacheScope(text(hints.get("lora_name")), text(hints.get("cache_salt")));
  }

  private static @Nullable String text(@Nullable Object value) {
    return value instanceof String text && !text.isEmpty() ? text : null;
  }

  /** Whether this is the scope of all requests without adapter and salt. */
  public boolean isCommon() {
    return adapter == null && salt == null;
  }
}
