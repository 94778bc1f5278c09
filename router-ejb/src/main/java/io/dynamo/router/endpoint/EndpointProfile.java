package io.dynamo.router.endpoint;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The routing properties that one model's workers at an endpoint share, taken from the longest
 * known model card that still exists.
 *
 * @param model the model's name; empty when there is no card
 * @param eagle whether the model drafts its own tokens, which changes how blocks are hashed
 * @param routing the router settings that the workers request, as JSON; empty leaves them to the
 *     router
 */
public record EndpointProfile(String model, boolean eagle, Map<String, @Nullable Object> routing) {
  /** The profile of workers without a card. */
  public static final EndpointProfile UNKNOWN = new EndpointProfile("", false, Map.of());

  public EndpointProfile {
    routing = Collections.unmodifiableMap(new LinkedHashMap<>(routing));
  }
}
