package io.dynamo.frontend.preprocess.jinja;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The value of {@code cycler(…)}: returns its items in turn. For one rendering. */
final class Cycler {
  private final List<Object> items;
  private int at;

  Cycler(List<Object> items) {
    if (items.isEmpty()) {
      throw new JinjaException("at least one item has to be provided");
    }
    this.items = items;
  }

  /** An attribute, or null when there is none of that name. */
  @Nullable Object get(String name) {
    return switch (name) {
      case "current" -> items.get(at);
      case "next" ->
          (Function)
              (args, named) -> {
                var item = items.get(at);
                at = (at + 1) % items.size();
                return item;
              };
      case "reset" ->
          (Function)
              (args, named) -> {
                at = 0;
                return None.NONE;
              };
      default -> null;
    };
  }
}
