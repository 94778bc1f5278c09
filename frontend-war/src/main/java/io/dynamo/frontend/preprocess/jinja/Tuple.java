package io.dynamo.frontend.preprocess.jinja;

import java.util.AbstractList;
import java.util.List;

/** Python's tuple: a list that spells itself otherwise and equals no list. Immutable. */
final class Tuple extends AbstractList<Object> {
  private final List<Object> items;
  private final List<String> names;

  Tuple(List<?> items) {
    this(items, List.of());
  }

  /**
   * @param names by which templates may ask for the items; empty for a plain tuple
   */
  Tuple(List<?> items, List<String> names) {
    this.items = List.copyOf(items);
    this.names = names;
  }

  static Tuple of(Object... items) {
    return new Tuple(List.of(items));
  }

  @Override
  public Object get(int index) {
    return items.get(index);
  }

  @Override
  public int size() {
    return items.size();
  }

  /** The index of the item of that name, or a negative number. */
  int indexOfName(String name) {
    return names.indexOf(name);
  }
}
