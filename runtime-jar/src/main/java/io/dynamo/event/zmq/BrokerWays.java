package io.dynamo.event.zmq;

/**
 * The state of the connections to several brokers, each of which reaches all publishers: nothing is
 * missed while one of them is up. Used by the loop's thread only.
 */
final class BrokerWays {
  private final Runnable onLinked;
  private final Runnable onCut;
  private int up; // connections that carry events now
  private int alive; // connections up, or down for a moment only
  private boolean reportedCut;

  /**
   * @param onLinked run when the first connection is up after none was
   * @param onCut run once when no connection has been up for some seconds
   */
  BrokerWays(Runnable onLinked, Runnable onCut) {
    this.onLinked = onLinked;
    this.onCut = onCut;
  }

  /** Adds a connection, which is not up yet. */
  PeerLink.Watcher add() {
    return new BrokerConnection();
  }

  private final class BrokerConnection implements PeerLink.Watcher {
    private boolean isUp;
    private boolean isAlive;

    @Override
    public void up() {
      if (isUp) {
        return;
      }
      isUp = true;
      if (!isAlive) {
        isAlive = true;
        alive++;
      }
      if (up++ == 0) {
        reportedCut = false;
        onLinked.run();
      }
    }

    @Override
    public void down() {
      if (isUp) {
        isUp = false;
        up--;
      }
    }

    @Override
    public void cut() {
      if (isAlive) {
        isAlive = false;
        alive--;
      }
      if (alive == 0 && !reportedCut) {
        reportedCut = true;
        onCut.run();
      }
    }
  }
}
