package io.dynamo.discovery.file;

import java.lang.System.Logger.Level;

/** Says once that something fails, and once that it works again. Confined to one thread. */
final class Outage {
  private static final System.Logger LOG = System.getLogger(FileDiscovery.class.getName());

  private final String begun;
  private final String over;
  private boolean out;

  /**
   * @param begun what to say when it begins, with what it means
   * @param over what to say when it is over
   */
  Outage(String begun, String over) {
    this.begun = begun;
    this.over = over;
  }

  void failed(Exception cause) {
    if (!out) {
      out = true;
      LOG.log(Level.WARNING, begun, cause);
    }
  }

  void worked() {
    if (out) {
      out = false;
      LOG.log(Level.INFO, over);
    }
  }
}
