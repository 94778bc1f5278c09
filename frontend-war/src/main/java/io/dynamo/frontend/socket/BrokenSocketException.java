package io.dynamo.frontend.socket;

/** The peer broke the protocol or a bound: the socket must be closed with {@link #reason()}. */
public final class BrokenSocketException extends Exception {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("serial") // exceptions of this kind are not serialized
  private final CloseReason reason;

  public BrokenSocketException(int code, String text) {
    super(text, null, false, false);
    this.reason = new CloseReason(code, text);
  }

  public CloseReason reason() {
    return reason;
  }
}
