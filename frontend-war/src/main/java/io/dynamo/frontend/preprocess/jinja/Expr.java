package io.dynamo.frontend.preprocess.jinja;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An expression. */
sealed interface Expr {
  record Literal(Object value) implements Expr {}

  record Name(String name) implements Expr {}

  record Attribute(Expr of, String name) implements Expr {}

  record Item(Expr of, Expr key) implements Expr {}

  record Slice(Expr of, @Nullable Expr from, @Nullable Expr to, @Nullable Expr step)
      implements Expr {}

  record ListOf(List<Expr> items) implements Expr {}

  record TupleOf(List<Expr> items) implements Expr {}

  record DictOf(List<Expr> keys, List<Expr> values) implements Expr {}

  record Negative(Expr of) implements Expr {}

  record Positive(Expr of) implements Expr {}

  record Not(Expr of) implements Expr {}

  record And(Expr left, Expr right) implements Expr {}

  record Or(Expr left, Expr right) implements Expr {}

  /** Arithmetic, {@code ~} included. */
  record Binary(String operator, Expr left, Expr right) implements Expr {}

  /** A chain: {@code a < b <= c}. */
  record Compare(Expr first, List<String> operators, List<Expr> operands) implements Expr {}

  record Conditional(Expr test, Expr then, @Nullable Expr otherwise) implements Expr {}

  record Call(Expr function, Arguments arguments) implements Expr {}

  record Filtered(Expr of, String filter, Arguments arguments) implements Expr {}

  record Tested(Expr of, String test, List<Expr> arguments) implements Expr {}

  /**
   * The arguments of a call.
   *
   * @param rest a list with further arguments, given as {@code *rest}
   * @param namedRest a dict with further named ones, given as {@code **namedRest}
   */
  record Arguments(
      List<Expr> positional,
      Map<String, Expr> named,
      @Nullable Expr rest,
      @Nullable Expr namedRest) {
    static final Arguments NONE = new Arguments(List.of(), Map.of(), null, null);
  }
}
