package io.dynamo.discovery;

import java.lang.System.Logger.Level;

/**
 * Logs once that an operation fails, and once that it works again. Confined to one thread. For
 * backends.
 */
public final class Outage {
  private final System.Logger log;
  private final String startText;
  private final String endText;
  private boolean out;

  /**
   * @param owner the class whose logger is written to
   * @param startText the warning at the start of the outage, with its consequence
   * @param endText the line at the end of the outage
   */
  public Outage(Class<?> owner, String startText, String endText) {
    this.log = System.getLogger(owner.getName());
    this.startText = startText;
    this.endText = endText;
  }

  /** Logs the start of the outage; does nothing while it lasts. */
  public void failed(Throwable cause) {
    if (!out) {
      out = true;
      log.log(Level.WARNING, startText, cause);
    }
  }

  /** Logs the end of the outage; does nothing when there is none. */
  public void worked() {
    if (out) {
      out = false;
      log.log(Level.INFO, endText);
    }
  }
}
