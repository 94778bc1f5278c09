package io.dynamo.router.pool;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The way in which SGLang's HiCache divides prompts into pages and names their objects in
 * Mooncake's store. A page is complete when the store has all its objects: {@code prefix} {@code
 * hash} {@code suffix}, with a suffix for the keys and one for the values of each rank, or a single
 * suffix per pipeline stage where a model's attention is latent.
 *
 * @param pageTokens tokens per page; at least 1
 * @param drafting whether pages are made of pairs of neighbouring tokens, as for models that draft
 * @param prefix with its separator; empty is none
 * @param suffixes at least one, at most {@link #MAX_OBJECTS}
 */
record HicacheLayout(int pageTokens, boolean drafting, String prefix, List<String> suffixes) {
  /** The greatest number of objects per page; a card that implies more is rejected. */
  static final int MAX_OBJECTS = 4096;

  private static final String MOONCAKE = "mooncake";

  HicacheLayout {
    suffixes = List.copyOf(suffixes);
  }

  /** Whether the pages are kept in a Mooncake store, which publishes its content. */
  static boolean isInMooncake(Map<?, ?> card) {
    return required(card, "backend", String.class).equals(MOONCAKE);
  }

  /**
   * Reads the description in a worker's card.
   *
   * @throws IllegalArgumentException when a field is missing or wrong; names the field
   */
  static HicacheLayout read(Map<?, ?> card) {
    int pageTokens = count(card, "page_size");
    if (pageTokens == 0) {
      throw new IllegalArgumentException("its page_size is 0");
    }
    boolean latent = required(card, "is_mla_model", Boolean.class);
    boolean split = required(card, "should_split_heads", Boolean.class);
    int heads = Math.max(1, count(card, "tp_size"));
    if (split && card.get("tp_lcm_size") != null) {
      heads = Math.max(heads, count(card, "tp_lcm_size"));
    }
    int stages = Math.max(1, count(card, "pp_size"));
    if ((long) heads * stages > MAX_OBJECTS / 2) {
      throw new IllegalArgumentException(
          "its pages are cut into %d × %d ranks, more than %d"
              .formatted(heads, stages, MAX_OBJECTS / 2));
    }
    return new HicacheLayout(
        pageTokens,
        required(card, "is_eagle", Boolean.class),
        prefix(card),
        latent ? latent(stages) : whole(heads, stages));
  }

  /**
   * Returns the address of the store's events by the worker's card; null when the card has none.
   */
  static @Nullable String events(Map<?, ?> card) {
    return text(card, "kv_events_endpoint");
  }

  /**
   * Returns the prefix of object names. An empty tag counts as none, but an empty prefix does not:
   * SGLang puts its separator behind it.
   */
  private static String prefix(Map<?, ?> card) {
    if (card.get("key_prefix") != null) {
      return required(card, "key_prefix", String.class) + "_";
    }
    var tag = text(card, "extra_backend_tag");
    return tag == null ? "" : tag + "_";
  }

  private static List<String> latent(int stages) {
    if (stages == 1) {
      return List.of("__k");
    }
    var suffixes = new ArrayList<String>();
    for (int stage = 0; stage < stages; stage++) {
      suffixes.add("_" + stage + "_k");
    }
    return suffixes;
  }

  private static List<String> whole(int heads, int stages) {
    var suffixes = new ArrayList<String>();
    for (int stage = 0; stage < stages; stage++) {
      for (int head = 0; head < heads; head++) {
        var rank = stages == 1 ? "_" + head : "_" + head + "_" + stage;
        suffixes.add(rank + "_k");
        suffixes.add(rank + "_v");
      }
    }
    return suffixes;
  }

  private static <T> T required(Map<?, ?> card, String name, Class<T> type) {
    var value = card.get(name);
    if (value == null || !type.isInstance(value)) {
      throw new IllegalArgumentException("its %s is %s".formatted(name, value));
    }
    return type.cast(value);
  }

  private static int count(Map<?, ?> card, String name) {
    if (card.get(name) instanceof Number number
        && number.doubleValue() == number.intValue()
        && number.intValue() >= 0) {
      return number.intValue();
    }
    throw new IllegalArgumentException("its %s is %s".formatted(name, card.get(name)));
  }

  /** Returns the text of field {@code name}; null where it is missing or empty. */
  private static @Nullable String text(Map<?, ?> card, String name) {
    var value = card.get(name);
    if (value != null && !(value instanceof String)) {
      throw new IllegalArgumentException("its %s is %s".formatted(name, value));
    }
    return value instanceof String text && !text.isEmpty() ? text : null;
  }
}
