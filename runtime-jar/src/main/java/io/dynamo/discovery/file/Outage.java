package io.dynamo.discovery.file;

import java.lang.System.Logger.Level;

/** Says once that something fails, and once that it works again. Confined to one thread. */
final class Outage {
  private static final System.Logger LOG = System.getLogger(FileDiscovery.class.getName());

  private final String startText;
  private final String endText;
  private boolean out;

  /**
   * @param startText the warning at its start, with what it means
   * @param endText the line at its end
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
