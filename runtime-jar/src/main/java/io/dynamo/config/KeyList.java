package io.dynamo.config;

import java.util.ArrayList;
import java.util.List;

/** The keys of one area, in the order of the documentation. */
final class KeyList {
  private final List<SettingKey<?>> keys = new ArrayList<>();

  /**
   * Adds a key.
   *
   * @param standard its value when it is not set; empty when it then has none
   */
  <T> SettingKey<T> key(
      String name, SettingType<T> type, String standard, Bound<T> bound, String meaning) {
    var key = new SettingKey<>(name, type, standard, bound, meaning);
    keys.add(key);
    return key;
  }

  void addAll(List<SettingKey<?>> others) {
    keys.addAll(others);
  }

  List<SettingKey<?>> all() {
    return List.copyOf(keys);
  }
}
