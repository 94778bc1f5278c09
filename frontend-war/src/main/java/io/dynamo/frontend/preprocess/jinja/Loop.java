package io.dynamo.frontend.preprocess.jinja;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The {@code loop} of a running {@code for}; a recursive one can be called with further items. */
final class Loop implements Function {
  /** Runs the same loop over other items, one level deeper, and gives its text. */
  interface Recursion {
    Object run(Object items, int depth0);
  }

  private final List<Object> items;
  private final int depth0;
  private final @Nullable Recursion recursion;
  private int index0 = -1;
  private @Nullable Object lastSeen;

  /**
   * @param recursion null for a loop that cannot call itself
   */
  Loop(List<Object> items, int depth0, @Nullable Recursion recursion) {
    this.items = items;
    this.depth0 = depth0;
    this.recursion = recursion;
  }

  Object advance() {
    return items.get(++index0);
  }

  @Override
  public Object call(List<Object> positional, Map<String, Object> named) {
    if (recursion == null) {
      throw new JinjaException(
          "The loop must have the 'recursive' marker to be called recursively.");
    }
    if (positional.size() != 1) {
      throw new JinjaException("loop() takes the items to go on with");
    }
    return recursion.run(positional.getFirst(), depth0 + 1);
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
      case "cycle" -> (Function) (values, named) -> cycle(values);
      case "changed" -> (Function) (values, named) -> changed(new Tuple(values));
      default ->
          new Undefined("'jinja2.runtime.LoopContext object' has no attribute '" + name + "'");
    };
  }

  private Object cycle(List<Object> values) {
    if (values.isEmpty()) {
      throw new JinjaException("no items for cycling given");
    }
    return values.get(index0 % values.size());
  }

  private Object changed(Tuple seen) {
    boolean changed = lastSeen == null || !Values.equal(lastSeen, seen);
    lastSeen = seen;
    return changed;
  }
}
