package io.dynamo.frontend.batches;

/** A line of an input is no request of its batch. */
public final class MalformedLineException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String code;

  /**
   * @param code for programs, {@code invalid_json_line} for example
   */
  public MalformedLineException(String code, String message) {
    super(message, null, false, false);
    this.code = code;
  }

  String code() {
    return code;
  }

  String text() {
    return String.valueOf(getMessage());
  }
}
