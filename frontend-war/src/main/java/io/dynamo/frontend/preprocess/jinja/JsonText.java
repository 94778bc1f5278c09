package io.dynamo.frontend.preprocess.jinja;

import org.jspecify.annotations.Nullable;

/** JSON as Python writes it, other characters than ASCII as they are. Stateless. */
public final class JsonText {
  private JsonText() {}

  /** Without white space, the keys of objects sorted. */
  public static String compactSorted(@Nullable Object value) {
    return new PythonJson(",", ":", null, true, false).write(Values.of(value));
  }

  /** With a space behind commas and colons, the keys in their order. */
  public static String spaced(@Nullable Object value) {
    return new PythonJson(", ", ": ", null, false, false).write(Values.of(value));
  }
}
