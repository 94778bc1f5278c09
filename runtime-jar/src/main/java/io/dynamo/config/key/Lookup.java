package io.dynamo.config.key;

import org.jspecify.annotations.Nullable;

/** Where settings come from: a configuration, seen as names and texts. */
@FunctionalInterface
public interface Lookup {
  /**
   * A text and where it was found.
   *
   * @param source for messages
   */
  record Found(String text, String source) {}

  /** Finds the text under {@code name}; null when there is none. */
  @Nullable Found find(String name);
}
