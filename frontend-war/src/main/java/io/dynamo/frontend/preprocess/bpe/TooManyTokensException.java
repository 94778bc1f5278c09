package io.dynamo.frontend.preprocess.bpe;

/** Thrown when a text has more tokens than its caller allows; the rest of it was not encoded. */
public final class TooManyTokensException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param wanted tokens at most
   */
  public TooManyTokensException(int wanted) {
    super("a text has more than " + wanted + " tokens", null, false, false);
  }
}
