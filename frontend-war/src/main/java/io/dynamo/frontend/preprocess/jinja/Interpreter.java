package io.dynamo.frontend.preprocess.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Runs one rendering, on one thread. */
final class Interpreter {
  private static final int SMALL = 256; // characters
  private static final int MAX_CALLS = 100;

  /** The way in which a body ended: regularly, by break or by continue. */
  private enum Flow {
    NEXT,
    BREAK,
    CONTINUE
  }

  private final JinjaTemplate.Limits limits;
  private final Arithmetic arithmetic;
  private final TimeLimit time;
  private StringBuilder out = new StringBuilder();
  private long lengthAround; // of the texts around the one that is captured now
  private int calls;

  Interpreter(JinjaTemplate.Limits limits) {
    this.limits = limits;
    this.time = new TimeLimit(limits.timeLimit());
    this.arithmetic = new Arithmetic(limits.maxLength());
  }

  String render(List<Node> body, Scope scope) {
    run(body, scope);
    return out.toString();
  }

  private Flow run(List<Node> body, Scope scope) {
    for (var node : body) {
      var flow = run(node, scope);
      if (flow != Flow.NEXT) {
        return flow;
      }
    }
    return Flow.NEXT;
  }

  private Flow run(Node node, Scope scope) {
    time.step();
    switch (node) {
      case Node.Data(var text) -> write(text);
      case Node.Output(var value) -> write(large(Values.text(value(value, scope))));
      case Node.Assign(var targets, var value) -> bind(targets, value(value, scope), scope);
      case Node.AssignAttribute(var name, var attribute, var value) -> {
        var namespace = namespace(name, scope);
        namespace.values().put(attribute, value(value, scope));
      }
      case Node.Capture capture -> run(capture, scope);
      case Node.FilterBlock(var filter, var arguments, var body) ->
          write(
              Values.text(
                  filter(
                      filter,
                      capture(body, new Scope(scope)),
                      positional(arguments, scope),
                      named(arguments, scope))));
      case Node.Macro macro -> scope.set(macro.name(), new Macro(macro, scope, this));
      case Node.CallBlock(var call, var caller) -> {
        var named = named(call.arguments(), scope);
        named.put("caller", new Macro(caller, scope, this));
        write(
            Values.text(
                call(value(call.function(), scope), positional(call.arguments(), scope), named)));
      }
      case Node.Scoped(var names, var values, var body) -> {
        var inner = new Scope(scope);
        for (int i = 0; i < names.size(); i++) {
          inner.set(names.get(i), value(values.get(i), scope));
        }
        return run(body, inner);
      }
      case Node.If(var branches) -> {
        for (var branch : branches) {
          if (isTrue(branch.test(), scope)) {
            return run(branch.body(), scope);
          }
        }
      }
      case Node.For loop -> run(loop, value(loop.in(), scope), 0, scope);
      case Node.Break _ -> {
        return Flow.BREAK;
      }
      case Node.Continue _ -> {
        return Flow.CONTINUE;
      }
    }
    return Flow.NEXT;
  }

  private void run(Node.Capture capture, Scope scope) {
    Object text = capture(capture.body(), new Scope(scope));
    if (capture.filtered() != null) {
      var inner = new Scope(scope);
      inner.set(Node.Capture.TEXT, text);
      text = value(capture.filtered(), inner);
    }
    if (capture.attribute() == null) {
      scope.set(capture.target(), text);
    } else {
      namespace(capture.target(), scope).values().put(capture.attribute(), text);
    }
  }

  private static Namespace namespace(String name, Scope scope) {
    if (scope.get(name) instanceof Namespace namespace) {
      return namespace;
    }
    throw new JinjaException("cannot assign attribute on non-namespace object");
  }

  private void run(Node.For node, Object in, int depth0, Scope scope) {
    var items = costly(Values.iterate(in));
    if (node.condition() != null) {
      var kept = new ArrayList<>();
      for (var item : items) {
        var inner = new Scope(scope);
        bind(node.targets(), item, inner);
        if (isTrue(node.condition(), inner)) {
          kept.add(item);
        }
      }
      items = kept;
    }
    if (items.isEmpty()) {
      run(node.otherwise(), new Scope(scope));
      return;
    }
    var loop = new Loop(items, depth0, node.recursive() ? recursion(node, scope) : null);
    for (int i = 0; i < items.size(); i++) {
      time.step();
      var inner = new Scope(scope);
      inner.set("loop", loop);
      bind(node.targets(), loop.advance(), inner);
      if (run(node.body(), inner) == Flow.BREAK) {
        return;
      }
    }
  }

  private Loop.Recursion recursion(Node.For node, Scope scope) {
    return (items, depth0) -> captured(() -> run(node, items, depth0, scope));
  }

  private static void bind(List<String> targets, Object value, Scope scope) {
    if (targets.size() == 1) {
      scope.set(targets.getFirst(), value);
      return;
    }
    var parts = Values.iterate(value);
    if (parts.size() != targets.size()) {
      throw new JinjaException(
          parts.size() < targets.size()
              ? "not enough values to unpack (expected %d, got %d)"
                  .formatted(targets.size(), parts.size())
              : "too many values to unpack (expected %d)".formatted(targets.size()));
    }
    for (int i = 0; i < targets.size(); i++) {
      scope.set(targets.get(i), parts.get(i));
    }
  }

  /** Renders {@code body} to text. */
  String capture(List<Node> body, Scope scope) {
    return captured(() -> run(body, scope));
  }

  private String captured(Runnable body) {
    var outer = out;
    lengthAround += outer.length();
    out = new StringBuilder();
    try {
      body.run();
      return out.toString();
    } finally {
      out = outer;
      lengthAround -= outer.length();
    }
  }

  private boolean isTrue(Expr expression, Scope scope) {
    return Values.isTrue(value(expression, scope));
  }

  /** Evaluates {@code expression}. */
  Object value(Expr expression, Scope scope) {
    time.step();
    return switch (expression) {
      case Expr.Literal(var value) -> value;
      case Expr.Name(var name) -> scope.get(name);
      case Expr.Attribute(var of, var name) -> Access.attribute(value(of, scope), name);
      case Expr.Item(var of, var key) -> {
        var container = value(of, scope);
        var item = Access.item(container, value(key, scope));
        yield container instanceof String ? costly(item) : item;
      }
      case Expr.Slice(var of, var from, var to, var step) ->
          costly(
              Access.slice(
                  value(of, scope),
                  optional(from, scope),
                  optional(to, scope),
                  optional(step, scope)));
      case Expr.ListOf(var items) -> values(items, scope);
      case Expr.TupleOf(var items) -> new Tuple(values(items, scope));
      case Expr.DictOf(var keys, var values) -> {
        var map = new LinkedHashMap<Object, Object>();
        for (int i = 0; i < keys.size(); i++) {
          map.put(value(keys.get(i), scope), value(values.get(i), scope));
        }
        yield map;
      }
      case Expr.Negative(var of) -> arithmetic.apply("*", -1L, number(value(of, scope)));
      case Expr.Positive(var of) -> number(value(of, scope));
      case Expr.Not(var of) -> !isTrue(of, scope);
      case Expr.And(var left, var right) -> {
        var first = value(left, scope);
        yield Values.isTrue(first) ? value(right, scope) : first;
      }
      case Expr.Or(var left, var right) -> {
        var first = value(left, scope);
        yield Values.isTrue(first) ? first : value(right, scope);
      }
      case Expr.Binary(var operator, var left, var right) ->
          large(arithmetic.apply(operator, value(left, scope), value(right, scope)));
      case Expr.Compare compare -> compare(compare, scope);
      case Expr.Conditional(var test, var then, var otherwise) ->
          isTrue(test, scope)
              ? value(then, scope)
              : otherwise != null
                  ? value(otherwise, scope)
                  : new Undefined("the inline if-expression has no else section");
      case Expr.Call(var function, var arguments) ->
          call(value(function, scope), positional(arguments, scope), named(arguments, scope));
      case Expr.Filtered(var of, var filter, var arguments) ->
          filter(filter, value(of, scope), positional(arguments, scope), named(arguments, scope));
      case Expr.Tested(var of, var test, var arguments) ->
          test(test, value(of, scope), values(arguments, scope));
    };
  }

  private Object filter(
      String name, Object value, List<Object> positional, Map<String, Object> named) {
    return costly(Filters.apply(name, value, new Inputs(positional, named, time)));
  }

  private boolean test(String name, Object value, List<Object> arguments) {
    boolean passes = Tests.apply(name, value, arguments);
    large(value);
    return passes;
  }

  /** A value of an operation whose cost grows with it; a small one costs a step. */
  private <T> T large(T value) {
    return value instanceof List<?>
            || value instanceof Map<?, ?>
            || (value instanceof String text && text.length() > SMALL)
        ? costly(value)
        : value;
  }

  /** The result of an operation whose cost grows with its values. */
  private <T> T costly(T result) {
    time.check();
    if (result instanceof String text && text.length() > limits.maxLength()) {
      throw new JinjaException(
          "a text of %d characters that the template makes exceeds %d"
              .formatted(text.length(), limits.maxLength()));
    }
    return result;
  }

  private boolean compare(Expr.Compare compare, Scope scope) {
    var left = value(compare.first(), scope);
    for (int i = 0; i < compare.operators().size(); i++) {
      var right = value(compare.operands().get(i), scope);
      boolean holds =
          switch (compare.operators().get(i)) {
            case "==" -> Values.equal(left, right);
            case "!=" -> !Values.equal(left, right);
            case "<" -> Values.compare(left, right) < 0;
            case "<=" -> Values.compare(left, right) <= 0;
            case ">" -> Values.compare(left, right) > 0;
            case ">=" -> Values.compare(left, right) >= 0;
            case "in" -> Values.contains(right, left);
            default -> !Values.contains(right, left);
          };
      large(left);
      large(right);
      if (!holds) {
        return false;
      }
      left = right;
    }
    return true;
  }

  private Object call(Object function, List<Object> positional, Map<String, Object> named) {
    if (!(function instanceof Function callable)) {
      throw new JinjaException(
          function instanceof Undefined undefined
              ? undefined.message()
              : "'" + Values.typeName(function) + "' object is not callable");
    }
    if (++calls > MAX_CALLS) {
      throw new JinjaException("macros call each other too deep");
    }
    var result = callable.call(positional, named);
    calls--;
    return costly(result);
  }

  private static Object number(Object value) {
    if (value instanceof Undefined undefined) {
      throw new JinjaException(undefined.message());
    }
    if (Values.number(value) == null) {
      throw new JinjaException("bad operand type for unary: '" + Values.typeName(value) + "'");
    }
    return value;
  }

  private Object optional(@Nullable Expr expression, Scope scope) {
    return expression == null ? None.NONE : value(expression, scope);
  }

  private List<Object> values(List<Expr> expressions, Scope scope) {
    var values = new ArrayList<>(expressions.size());
    for (var expression : expressions) {
      values.add(value(expression, scope));
    }
    return values;
  }

  private List<Object> positional(Expr.Arguments arguments, Scope scope) {
    var values = values(arguments.positional(), scope);
    if (arguments.rest() != null) {
      values.addAll(Values.iterate(value(arguments.rest(), scope)));
    }
    return values;
  }

  private Map<String, Object> named(Expr.Arguments arguments, Scope scope) {
    var values = new LinkedHashMap<String, Object>();
    arguments.named().forEach((name, expression) -> values.put(name, value(expression, scope)));
    if (arguments.namedRest() != null) {
      if (!(value(arguments.namedRest(), scope) instanceof Map<?, ?> rest)) {
        throw new JinjaException("argument after ** must be a mapping");
      }
      rest.forEach((name, value) -> values.put(Values.text(name), value));
    }
    return values;
  }

  private void write(String text) {
    if (lengthAround + out.length() + text.length() > limits.maxLength()) {
      throw new JinjaException(
          "the text of the template exceeds " + limits.maxLength() + " characters");
    }
    out.append(text);
  }
}
