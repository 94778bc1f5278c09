package io.dynamo.cli;

/** No server answered at the address. */
final class UnreachableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UnreachableException(String message, Throwable cause) {
    super(message, cause);
  }
}
