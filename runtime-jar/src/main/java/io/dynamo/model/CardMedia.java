package io.dynamo.model;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A card's rules for frontends that get media in prompts of its model; values as in JSON.
 *
 * @param decoder {@code media_decoder}: the kinds of media that the frontend fetches, each with its
 *     limits; empty leaves all to the workers
 * @param fetcher {@code media_fetcher}: the rules by which it fetches
 */
public record CardMedia(
    Map<String, @Nullable Object> decoder, Map<String, @Nullable Object> fetcher) {
  public static final CardMedia NONE = new CardMedia(Map.of(), Map.of());

  public CardMedia {
    decoder = Collections.unmodifiableMap(new LinkedHashMap<>(decoder));
    fetcher = Collections.unmodifiableMap(new LinkedHashMap<>(fetcher));
  }

  /**
   * Whether the frontend shall fetch media of that kind.
   *
   * @param kind {@code image}, {@code video} or {@code audio}
   */
  public boolean decodes(String kind) {
    return decoder.get(kind) != null;
  }

  /** Returns a limit that the card sets on decoded media of a kind; null when it sets none. */
  public @Nullable Long limit(String kind, String name) {
    return decoder.get(kind) instanceof Map<?, ?> options
            && options.get("limits") instanceof Map<?, ?> limits
            && limits.get(name) instanceof Number limit
        ? (Long) limit.longValue()
        : null;
  }
}
