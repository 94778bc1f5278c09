package io.dynamo.frontend.preprocess.jinja;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A filter's arguments, by position or name.
 *
 * @param time the time limit of the rendering, for filters that run others
 */
record Inputs(List<Object> positional, Map<String, Object> named, TimeLimit time) {
  @Nullable Object find(int index, String name) {
    return index < positional.size() ? positional.get(index) : named.get(name);
  }

  Object get(int index, String name, Object otherwise) {
    var found = find(index, name);
    return found == null ? otherwise : found;
  }

  String text(int index, String name, String otherwise) {
    return Values.text(get(index, name, otherwise));
  }

  int integer(int index, String name, int otherwise) {
    var found = find(index, name);
    return found == null || found == None.NONE ? otherwise : Values.intArgument(found);
  }

  boolean flag(int index, String name) {
    return Values.isTrue(get(index, name, false));
  }
}
