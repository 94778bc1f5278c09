package io.dynamo.event.zmq;

/**
 * The ways to all publishers that several brokers are: nothing is missed while one of them is up.
 * By the loop's thread only.
 */
final class BrokerWays {
  private final Runnable onLinked;
  private final Runnable onCut;
  private int up; // that carry events now
  private int alive; // up, or down for a moment only
  private boolean reportedCut;

  /**
   * @param onLinked there is a way, and for a while there was none
   * @param onCut there has been no way for some seconds; called once until there is
   */
  BrokerWays(Runnable onLinked, Runnable onCut) {
    this.onLinked = onLinked;
    this.onCut = onCut;
  }

  /** One more, not up yet. */
  PeerLink.Watcher add() {
    return new Way();
  }

  private final class Way implements PeerLink.Watcher {
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
