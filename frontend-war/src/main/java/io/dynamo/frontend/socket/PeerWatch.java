package io.dynamo.frontend.socket;

/**
 * Judges by looks at fixed intervals whether a socket's peer is alive. For one thread at a time.
 */
public final class PeerWatch {
  private static final int SILENT_LOOKS = 2;
  private static final int SLOW_LOOKS = 3;

  private int silences;
  private long arriving;
  private int looksAtIt; // at the message that arrives

  /** The result of a look. */
  public enum Verdict {
    FINE,
    /** It has said nothing since the last look: ask for a sign of life. */
    SILENT,
    /** It has given none. */
    GONE,
    /** One message has been arriving for two to three intervals. */
    SLOW
  }

  /**
   * Looks.
   *
   * @param heard whether bytes have come since the last look, or nobody has read
   * @param message the number of the message of which a part has come; 0 for none
   */
  public Verdict look(boolean heard, long message) {
    looksAtIt = message == 0 ? 0 : message == arriving ? looksAtIt + 1 : 1;
    arriving = message;
    silences = heard ? 0 : silences + 1;
    if (silences >= SILENT_LOOKS) {
      return Verdict.GONE;
    }
    if (looksAtIt >= SLOW_LOOKS) {
      return Verdict.SLOW;
    }
    return silences > 0 ? Verdict.SILENT : Verdict.FINE;
  }
}
