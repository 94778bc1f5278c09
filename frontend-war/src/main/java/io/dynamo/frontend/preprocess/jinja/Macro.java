package io.dynamo.frontend.preprocess.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A macro, or the body of a {@code call} block, with the names that are visible where it stands.
 */
record Macro(Node.Macro node, Scope scope, Interpreter interpreter) implements Function {
  @Override
  public Object call(List<Object> positional, Map<String, Object> named) {
    var inner = new Scope(scope);
    var rest = new LinkedHashMap<>(named);
    var caller = rest.remove("caller");
    bind(inner, positional, rest);
    int taken = node.parameters().size();
    if (positional.size() > taken && !node.usesVarargs()) {
      throw new JinjaException(
          "macro '%s' takes not more than %d argument(s)".formatted(node.name(), taken));
    }
    if (node.usesVarargs()) {
      inner.set(
          "varargs",
          new Tuple(
              positional.size() > taken
                  ? positional.subList(taken, positional.size())
                  : List.of()));
    }
    if (node.usesKwargs()) {
      inner.set("kwargs", new LinkedHashMap<Object, Object>(rest));
    } else if (!rest.isEmpty()) {
      throw new JinjaException(
          "macro '%s' takes no keyword argument '%s'"
              .formatted(node.name(), rest.keySet().iterator().next()));
    }
    if (node.usesCaller()) {
      inner.set("caller", caller != null ? caller : new Undefined("No caller defined"));
    } else if (caller != null) {
      throw new JinjaException(
          "macro '%s' takes no keyword argument 'caller'".formatted(node.name()));
    }
    return interpreter.capture(node.body(), inner);
  }

  private void bind(Scope inner, List<Object> positional, Map<String, Object> named) {
    for (int i = 0; i < node.parameters().size(); i++) {
      var parameter = node.parameters().get(i);
      var given = i < positional.size() ? positional.get(i) : named.remove(parameter);
      inner.set(parameter, given != null ? given : otherwise(i, parameter, inner));
    }
  }

  private Object otherwise(int index, String parameter, Scope inner) {
    var otherwise = node.defaults().get(index);
    return otherwise != null
        ? interpreter.value(otherwise, inner)
        : new Undefined("parameter '" + parameter + "' was not provided");
  }

  /** An attribute, or null when there is none of that name. */
  @Nullable Object get(String name) {
    return switch (name) {
      case "name" -> node.name();
      case "arguments" -> new Tuple(new ArrayList<>(node.parameters()));
      case "catch_varargs" -> node.usesVarargs();
      case "catch_kwargs" -> node.usesKwargs();
      case "caller" -> node.usesCaller();
      default -> null;
    };
  }
}
