package io.dynamo.frontend.preprocess.jinja;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** The tests: predicates that may follow {@code is}. */
final class Tests {
  private static final Set<String> KNOWN =
      Set.of(
          "defined",
          "undefined",
          "none",
          "boolean",
          "true",
          "false",
          "string",
          "number",
          "integer",
          "float",
          "mapping",
          "sequence",
          "iterable",
          "callable",
          "odd",
          "even",
          "divisibleby",
          "in",
          "lower",
          "upper",
          "eq",
          "equalto",
          "==",
          "ne",
          "!=",
          "lt",
          "lessthan",
          "<",
          "le",
          "<=",
          "gt",
          "greaterthan",
          ">",
          "ge",
          ">=",
          "sameas");

  private Tests() {}

  static boolean isKnown(String name) {
    return KNOWN.contains(name);
  }

  static boolean apply(String name, Object value, List<Object> arguments) {
    return switch (name) {
      case "defined" -> !(value instanceof Undefined);
      case "undefined" -> value instanceof Undefined;
      case "none" -> value == None.NONE;
      case "boolean" -> value instanceof Boolean;
      case "true" -> Boolean.TRUE.equals(value);
      case "false" -> Boolean.FALSE.equals(value);
      case "string" -> value instanceof String;
      case "number" -> Values.number(value) != null;
      case "integer" -> value instanceof Number && !(value instanceof Double);
      case "float" -> value instanceof Double;
      case "mapping" -> value instanceof Map;
      case "sequence", "iterable" ->
          value instanceof List
              || value instanceof String
              || value instanceof Map
              || value instanceof Undefined;
      case "callable" -> value instanceof Function;
      case "odd" -> Values.equal(rest(value, 2L), 1L);
      case "even" -> Values.equal(rest(value, 2L), 0L);
      case "divisibleby" -> Values.equal(rest(value, argument(name, arguments)), 0L);
      case "in" -> Values.contains(argument(name, arguments), value);
      case "lower" -> isCased(Values.text(value), true);
      case "upper" -> isCased(Values.text(value), false);
      case "eq", "equalto", "==" -> Values.equal(value, argument(name, arguments));
      case "ne", "!=" -> !Values.equal(value, argument(name, arguments));
      case "lt", "lessthan", "<" -> Values.compare(value, argument(name, arguments)) < 0;
      case "le", "<=" -> Values.compare(value, argument(name, arguments)) <= 0;
      case "gt", "greaterthan", ">" -> Values.compare(value, argument(name, arguments)) > 0;
      case "ge", ">=" -> Values.compare(value, argument(name, arguments)) >= 0;
      case "sameas" -> isSameScalar(value, argument(name, arguments));
      default -> throw new JinjaException("No test named '" + name + "' found.");
    };
  }

  private static Object rest(Object value, Object by) {
    if (Values.number(value) == null) {
      throw new JinjaException("'" + Values.typeName(value) + "' is no number");
    }
    return new Arithmetic(1).apply("%", value, by);
  }

  /**
   * Compares values of which Python has one instance: none, booleans and, nearly, numbers and
   * strings.
   */
  private static boolean isSameScalar(Object value, Object other) {
    return !(value instanceof List) && !(value instanceof Map) && value.equals(other);
  }

  private static boolean isCased(String text, boolean lower) {
    var cased = lower ? text.toLowerCase(Locale.ROOT) : text.toUpperCase(Locale.ROOT);
    return text.equals(cased) && text.chars().anyMatch(Character::isLetter);
  }

  private static Object argument(String name, List<Object> arguments) {
    if (arguments.isEmpty()) {
      throw new JinjaException("test '" + name + "' needs an argument");
    }
    return arguments.getFirst();
  }
}
