package io.dynamo.cli;

/** A server answered with an error, or with something that is no answer of this product. */
final class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  RefusedException(String message) {
    super(message);
  }
}
