package io.dynamo.frontend.preprocess.jinja;

import java.util.List;

/** The {@code loop} of a running {@code for}. */
final class Loop {
  private final List<Object> items;
  private final int depth0;
  private int index0 = -1;

  Loop(List<Object> items, int depth0) {
    this.items = items;
    this.depth0 = depth0;
  }

  int depth0() {
    return depth0;
  }

  Object advance() {
    return items.get(++index0);
  }

  Object get(String name) {
    return switch (name) {
      case "index" -> index0 + 1L;
      case "index0" -> (long) index0;
      case "revindex" -> (long) items.size() - index0;
      case "revindex0" -> items.size() - index0 - 1L;
      case "first" -> index0 == 0;
      case "last" -> index0 == items.size() - 1;
      case "length" -> (long) items.size();
      case "depth" -> depth0 + 1L;
      case "depth0" -> (long) depth0;
      case "previtem" ->
          index0 > 0 ? items.get(index0 - 1) : new Undefined("there is no previous item");
      case "nextitem" ->
          index0 + 1 < items.size()
              ? items.get(index0 + 1)
              : new Undefined("there is no next item");
      case "cycle" -> (Function) (values, named) -> values.get(index0 % values.size());
      default -> new Undefined("'LoopContext object' has no attribute '" + name + "'");
    };
  }
}
