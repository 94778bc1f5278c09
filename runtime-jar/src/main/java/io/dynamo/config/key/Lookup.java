package io.dynamo.config.key;

import org.jspecify.annotations.Nullable;

/** A configuration as names and texts, from which settings are read. */
@FunctionalInterface
public interface Lookup {
  /**
   * A text and its source.
   *
   * @param source for messages
   */
  record SettingText(String text, String source) {}

  /** Returns the text under {@code name}; null when there is none. */
  @Nullable SettingText find(String name);
}
