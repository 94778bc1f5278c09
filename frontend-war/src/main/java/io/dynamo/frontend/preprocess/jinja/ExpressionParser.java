package io.dynamo.frontend.preprocess.jinja;

import io.dynamo.frontend.preprocess.jinja.Expr.Arguments;
import io.dynamo.frontend.preprocess.jinja.Token.Kind;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads expressions, by Jinja's precedence. For one thread. */
final class ExpressionParser extends TokenCursor {
  private static final int MAX_DEPTH = 100;
  private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", "<=", ">", ">=");
  private static final Set<String> KEYWORDS_AFTER_TEST =
      Set.of("else", "or", "and", "is", "if", "not", "in");

  private final List<String> unknown = new ArrayList<>(); // filters and tests that are not there
  private int depth;

  ExpressionParser(List<Token> tokens) {
    super(tokens);
  }

  /** The number of unknown filters and tests so far, for {@link #forgive}. */
  int unknown() {
    return unknown.size();
  }

  /**
   * Forgives unknown filters and tests beyond the first {@code before}, which are under a
   * condition: as in jinja2, they fail only when they are reached.
   */
  void forgive(int before) {
    unknown.subList(before, unknown.size()).clear();
  }

  /** Ends parsing; fails for an unknown filter or test that is not forgiven. */
  void requireKnown() {
    if (!unknown.isEmpty()) {
      throw new JinjaException(unknown.getFirst());
    }
  }

  /** One expression, or several with commas as a list. */
  Expr tuple() {
    var first = expression();
    if (!current().isOperator(",")) {
      return first;
    }
    var items = new ArrayList<Expr>();
    items.add(first);
    while (skipOperator(",")) {
      if (current().kind() == Kind.BLOCK_END || current().kind() == Kind.OUTPUT_END) {
        break;
      }
      items.add(expression());
    }
    return new Expr.TupleOf(items);
  }

  Expr expression() {
    if (++depth > MAX_DEPTH) {
      throw error("an expression is nested too deep");
    }
    int before = unknown();
    var value = or();
    while (skipName("if")) {
      var test = or();
      var otherwise = skipName("else") ? expression() : null;
      value = new Expr.Conditional(test, value, otherwise);
      forgive(before);
    }
    depth--;
    return value;
  }

  /** Reads the expression that {@code for x in …} iterates, without an inline condition. */
  Expr iterable() {
    var first = or();
    if (!current().isOperator(",")) {
      return first;
    }
    var items = new ArrayList<>(List.of(first));
    while (skipOperator(",")) {
      items.add(or());
    }
    return new Expr.TupleOf(items);
  }

  Expr or() {
    var left = and();
    while (skipName("or")) {
      left = new Expr.Or(left, and());
    }
    return left;
  }

  private Expr and() {
    var left = not();
    while (skipName("and")) {
      left = new Expr.And(left, not());
    }
    return left;
  }

  private Expr not() {
    return skipName("not") ? new Expr.Not(not()) : compare();
  }

  private Expr compare() {
    var first = sum();
    var operators = new ArrayList<String>();
    var operands = new ArrayList<Expr>();
    while (true) {
      var token = current();
      if (token.kind() == Kind.OPERATOR && COMPARISONS.contains(token.text())) {
        operators.add(next().text());
      } else if (skipName("in")) {
        operators.add("in");
      } else if (token.isName("not") && following().isName("in")) {
        next();
        next();
        operators.add("not in");
      } else {
        return operators.isEmpty() ? first : new Expr.Compare(first, operators, operands);
      }
      operands.add(sum());
    }
  }

  private Expr sum() {
    var left = concatenation();
    while (current().isOperator("+") || current().isOperator("-")) {
      left = new Expr.Binary(next().text(), left, concatenation());
    }
    return left;
  }

  private Expr concatenation() {
    var left = product();
    while (skipOperator("~")) {
      left = new Expr.Binary("~", left, product());
    }
    return left;
  }

  private Expr product() {
    var left = power();
    while (current().kind() == Kind.OPERATOR
        && Set.of("*", "/", "//", "%").contains(current().text())) {
      left = new Expr.Binary(next().text(), left, power());
    }
    return left;
  }

  private Expr power() {
    var left = unary(true);
    while (skipOperator("**")) {
      left = new Expr.Binary("**", left, unary(true));
    }
    return left;
  }

  private Expr unary(boolean withFilters) {
    if (++depth > MAX_DEPTH) {
      throw error("an expression is nested too deep");
    }
    Expr value;
    if (skipOperator("-")) {
      value = new Expr.Negative(unary(false));
    } else if (skipOperator("+")) {
      value = new Expr.Positive(unary(false));
    } else {
      value = primary();
    }
    value = postfix(value);
    depth--;
    return withFilters ? filters(value) : value;
  }

  private Expr primary() {
    var token = current();
    switch (token.kind()) {
      case NAME -> {
        next();
        return switch (token.text()) {
          case "true", "True" -> new Expr.Literal(true);
          case "false", "False" -> new Expr.Literal(false);
          case "none", "None" -> new Expr.Literal(None.NONE);
          default -> new Expr.Name(token.text());
        };
      }
      case STRING -> {
        var text = new StringBuilder();
        while (current().kind() == Kind.STRING) {
          text.append(next().text());
        }
        return new Expr.Literal(text.toString());
      }
      case INTEGER -> {
        next();
        return new Expr.Literal(Values.integer(new BigInteger(token.text())));
      }
      case FLOAT -> {
        next();
        try {
          return new Expr.Literal(Double.valueOf(token.text()));
        } catch (NumberFormatException e) {
          throw new JinjaException("no number: " + token.text() + " (line " + token.line() + ")");
        }
      }
      default -> {
        if (skipOperator("(")) {
          return parenthesized();
        }
        if (skipOperator("[")) {
          return new Expr.ListOf(items("]"));
        }
        if (skipOperator("{")) {
          return dict();
        }
        throw error("expected an expression");
      }
    }
  }

  private Expr parenthesized() {
    if (skipOperator(")")) {
      return new Expr.TupleOf(List.of());
    }
    var first = expression();
    if (skipOperator(")")) {
      return first;
    }
    expectOperator(",");
    var items = new ArrayList<Expr>();
    items.add(first);
    items.addAll(items(")"));
    return new Expr.TupleOf(items);
  }

  private List<Expr> items(String closer) {
    var items = new ArrayList<Expr>();
    while (!skipOperator(closer)) {
      items.add(expression());
      if (!current().isOperator(closer)) {
        expectOperator(",");
      }
    }
    return items;
  }

  private Expr dict() {
    var keys = new ArrayList<Expr>();
    var values = new ArrayList<Expr>();
    while (!skipOperator("}")) {
      keys.add(expression());
      expectOperator(":");
      values.add(expression());
      if (!current().isOperator("}")) {
        expectOperator(",");
      }
    }
    return new Expr.DictOf(keys, values);
  }

  private Expr postfix(Expr start) {
    var value = start;
    while (true) {
      if (skipOperator(".")) {
        value =
            current().kind() == Kind.INTEGER
                ? new Expr.Item(value, primary())
                : new Expr.Attribute(value, name());
      } else if (skipOperator("[")) {
        value = subscript(value);
      } else if (current().isOperator("(")) {
        value = new Expr.Call(value, arguments());
      } else {
        return value;
      }
    }
  }

  private Expr subscript(Expr of) {
    Expr from = current().isOperator(":") ? null : expression();
    if (from != null && skipOperator("]")) {
      return new Expr.Item(of, from);
    }
    expectOperator(":");
    Expr to = sliceEnd();
    Expr step = skipOperator(":") ? sliceEnd() : null;
    expectOperator("]");
    return new Expr.Slice(of, from, to, step);
  }

  private @Nullable Expr sliceEnd() {
    return current().isOperator(":") || current().isOperator("]") ? null : expression();
  }

  /** The arguments of a call; the next token is the opening parenthesis. */
  Arguments arguments() {
    expectOperator("(");
    var positional = new ArrayList<Expr>();
    Map<String, Expr> named = new LinkedHashMap<>();
    Expr rest = null;
    Expr namedRest = null;
    while (!skipOperator(")")) {
      if (skipOperator("**")) {
        namedRest = expression();
      } else if (skipOperator("*")) {
        rest = expression();
      } else if (current().kind() == Kind.NAME && following().isOperator("=")) {
        var name = name();
        next();
        named.put(name, expression());
      } else {
        positional.add(expression());
      }
      if (!current().isOperator(")")) {
        expectOperator(",");
      }
    }
    return new Arguments(positional, named, rest, namedRest);
  }

  private Expr filters(Expr start) {
    var value = start;
    while (true) {
      if (skipOperator("|")) {
        value = filter(value);
      } else if (skipName("is")) {
        value = test(value);
      } else if (current().isOperator("(")) {
        value = new Expr.Call(value, arguments());
      } else {
        return value;
      }
    }
  }

  /** A filter's name and arguments, applied to {@code of}. */
  Expr.Filtered filter(Expr of) {
    var name = name();
    if (!Filters.isKnown(name)) {
      unknown.add("No filter named '" + name + "'.");
    }
    return new Expr.Filtered(of, name, current().isOperator("(") ? arguments() : Arguments.NONE);
  }

  private Expr test(Expr of) {
    boolean negated = skipName("not");
    var name = name();
    if (!Tests.isKnown(name)) {
      unknown.add("No test named '" + name + "'.");
    }
    List<Expr> arguments = List.of();
    var token = current();
    if (token.isOperator("(")) {
      arguments = arguments().positional();
    } else if (token.kind() == Kind.STRING
        || token.kind() == Kind.INTEGER
        || token.kind() == Kind.FLOAT
        || token.isOperator("[")
        || token.isOperator("{")
        || (token.kind() == Kind.NAME && !KEYWORDS_AFTER_TEST.contains(token.text()))) {
      arguments = List.of(postfix(primary()));
    }
    var test = new Expr.Tested(of, name, arguments);
    return negated ? new Expr.Not(test) : test;
  }
}
