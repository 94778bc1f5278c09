package io.dynamo.frontend.preprocess.jinja;

import io.dynamo.frontend.preprocess.jinja.Expr.Arguments;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A part of a template's body. */
sealed interface Node {
  record Data(String text) implements Node {}

  record Output(Expr value) implements Node {}

  record For(
      List<String> targets,
      Expr in,
      @Nullable Expr condition,
      boolean recursive,
      List<Node> body,
      List<Node> otherwise)
      implements Node {}

  /** Branches in order; the last may have the literal true for its test. */
  record If(List<Branch> branches) implements Node {}

  record Branch(Expr test, List<Node> body) {}

  /** {@code set a, b = value}. */
  record Assign(List<String> targets, Expr value) implements Node {}

  /** {@code set namespace.name = value}. */
  record AssignAttribute(String namespace, String name, Expr value) implements Node {}

  /**
   * {@code set a}…{@code endset}.
   *
   * @param attribute of the namespace {@code target}, or null when that is what is set
   * @param filtered the text's name with filters applied to it, or null
   */
  record Capture(
      String target, @Nullable String attribute, @Nullable Expr filtered, List<Node> body)
      implements Node {
    static final String TEXT = " text"; // no template can spell it
  }

  /** A macro; also the body of a {@code call} block, which is one without a name. */
  record Macro(
      String name,
      List<String> parameters,
      List<@Nullable Expr> defaults,
      List<Node> body,
      boolean usesCaller,
      boolean usesVarargs,
      boolean usesKwargs)
      implements Node {}

  /** {@code call f(…)}…{@code endcall}: the body is the call's {@code caller}. */
  record CallBlock(Expr.Call call, Macro caller) implements Node {}

  record FilterBlock(String filter, Arguments arguments, List<Node> body) implements Node {}

  /** A body without a meaning of its own: {@code generation}, {@code with}. */
  record Scoped(List<String> names, List<Expr> values, List<Node> body) implements Node {}

  record Break() implements Node {}

  record Continue() implements Node {}
}
