package io.dynamo.worker.engine;

import io.dynamo.inference.GenerateRequest;
import org.jspecify.annotations.Nullable;

/**
 * Within what KV blocks are alike: nothing is shared between two of these.
 *
 * @param adapter the LoRA adapter that computes; null for the model itself
 * @param salt what the client keeps its blocks apart by; null for none
 */
public record CacheScope(@Nullable String adapter, @Nullable String salt) {
  /** The scope that the hints of {@code request} tell. */
  public static CacheScope of(GenerateRequest request) {
    var hints = request.routing().passedOn();
    return new CacheScope(text(hints.get("lora_name")), text(hints.get("cache_salt")));
  }

  private static @Nullable String text(@Nullable Object value) {
    return value instanceof String text && !text.isEmpty() ? text : null;
  }

  /** Whether it is that of all requests that ask for nothing of their own. */
  public boolean isCommon() {
    return adapter == null && salt == null;
  }
}
