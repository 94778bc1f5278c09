package io.dynamo.metrics;

/** What the event plane counts. */
public final class EventMetrics {
  public static final MetricName DROPPED =
      new MetricName(
          "dynamo_event_dropped_total",
          "Events that a publisher or a subscription of this server lost, by reason.");

  /** A publisher's queue was full: the event has left for nobody. */
  public static final Label PUBLISHER_FULL = new Label("reason", "publisher_full");

  /** What waits for one subscriber of a publisher was at its bound: the others have the event. */
  public static final Label SUBSCRIBER_SLOW = new Label("reason", "subscriber_slow");

  /** A subscription's queue was full. */
  public static final Label SUBSCRIPTION_FULL = new Label("reason", "subscription_full");

  /** What arrived was no event of the publisher that was expected there. */
  public static final Label MALFORMED = new Label("reason", "malformed");

  /** The sequence of a publisher had a gap: lost on the way. */
  public static final Label MISSED = new Label("reason", "missed");

  private EventMetrics() {}
}
