package io.dynamo.frontend.socket;

/**
 * Why a socket is closed.
 *
 * @param code of RFC 6455, section 7.4
 * @param text at most 123 bytes of UTF-8
 */
public record CloseReason(int code, String text) {
  public static final int NORMAL = 1000;
  public static final int GOING_AWAY = 1001;
  public static final int PROTOCOL_ERROR = 1002;
  public static final int UNSUPPORTED = 1003;
  public static final int NOT_CONSISTENT = 1007;
  public static final int POLICY = 1008;
  public static final int TOO_BIG = 1009;
  public static final int SERVER_ERROR = 1011;
  public static final int TRY_AGAIN_LATER = 1013;

  /** Whether a peer may send the code. */
  static boolean mayBeSent(int code) {
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || isPrivate(code);
  }

  private static boolean isPrivate(int code) {
    return code >= 3000 && code <= 4999;
  }
}
