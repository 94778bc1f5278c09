package io.dynamo.worker.wiring;

import io.dynamo.config.router.RouterCard;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a worker's wish for the routing to it: Dynamo's {@code router_config} of a model card,
 * which for its model's workers overrides the frontend's settings, in this project and in Dynamo.
 */
final class CardRouting {
  private static final String KEY = "dynamo.worker.router-config";

  /** Members without which Dynamo 1.6.1 rejects the whole card. */
  private static final List<String> REQUIRED = List.of("kv_router_config", "load_threshold_config");

  private CardRouting() {}

  /**
   * Returns the member of the card; empty when the setting is absent.
   *
   * @param own the settings that apply without it
   * @throws IllegalArgumentException when a router would ignore part of it
   */
  static Map<String, @Nullable Object> of(@Nullable String text, RouterSettings own) {
    if (text == null) {
      return Map.of();
    }
    Map<String, @Nullable Object> asked;
    try {
      asked = Json.readObject(text.getBytes(StandardCharsets.UTF_8)).members();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(KEY + " is no JSON object: " + e.getMessage(), e);
    }
    var ignored = RouterCard.read(asked, own).ignored();
    if (!ignored.isEmpty()) {
      throw new IllegalArgumentException(
          KEY + " has what no router would heed: " + String.join("; ", ignored));
    }
    return whole(asked);
  }

  /**
   * Returns the member of a card of embeddings: they leave no KV blocks behind, and a frontend of
   * Dynamo that chooses by blocks answers 500 for them.
   */
  static Map<String, @Nullable Object> byLoad() {
    return whole(Map.of("router_mode", "least_loaded"));
  }

  /** Adds what Dynamo's frontend refuses a card without; empty, they change nothing. */
  private static Map<String, @Nullable Object> whole(Map<String, @Nullable Object> asked) {
    Map<String, @Nullable Object> whole = new LinkedHashMap<>(asked);
    for (var member : REQUIRED) {
      whole.putIfAbsent(member, Map.of());
    }
    return whole;
  }
}
