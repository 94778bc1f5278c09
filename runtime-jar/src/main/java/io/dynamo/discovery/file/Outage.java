package io.dynamo.discovery.file;

import java.lang.System.Logger.Level;

/** Logs once that an operation fails, and once that it works again. Confined to one thread. */
final class Outage {
  private static final System.Logger LOG = System.getLogger(FileDiscovery.class.getName());

  private final String startText;
  private final String endText;
  private boolean out;

  /**
   * @param startText the warning at the start of the outage, with its consequence
   * @param endText the line at the end of the outage
   */
  Outage(String startText, String endText) {
    this.startText = startText;
    this.endText = endText;
  }

  void failed(Exception cause) {
    if (!out) {
      out = true;
      LOG.log(Level.WARNING, startText, cause);
    }
  }

  void worked() {
    if (out) {
      out = false;
      LOG.log(Level.INFO, endText);
    }
  }
}
