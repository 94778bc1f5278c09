package io.dynamo.frontend.preprocess.jinja;

/**
 * The value of a missing name or item: empty as text, false as a condition, an error otherwise.
 *
 * @param message what is missing
 */
record Undefined(String message) {
  @Override
  public boolean equals(Object other) {
    return other instanceof Undefined;
  }

  @Override
  public int hashCode() {
    return 0;
  }

  @Override
  public String toString() {
    return "";
  }
}
