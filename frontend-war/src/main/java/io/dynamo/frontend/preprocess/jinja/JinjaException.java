package io.dynamo.frontend.preprocess.jinja;

/** A template that does not compile, fails, or refuses its input by {@code raise_exception}. */
public final class JinjaException extends RuntimeException {
  private static final long serialVersionUID = 1;

  JinjaException(String message) {
    super(message, null, false, false);
  }
}
