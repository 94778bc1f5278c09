package io.dynamo.metrics;

/** The metrics of the event plane. */
public final class EventMetrics {
  public static final MetricName DROPPED =
      new MetricName(
          "dynamo_event_dropped_total",
          "Events that a publisher or a subscription of this server lost, by reason.");

  /** A publisher's queue was full: no subscriber gets the event. */
  public static final Label PUBLISHER_FULL = new Label("reason", "publisher_full");

  /**
   * The queue of one slow subscriber of a publisher was full: the other subscribers get the event.
   */
  public static final Label SUBSCRIBER_SLOW = new Label("reason", "subscriber_slow");

  /** A subscription's queue was full. */
  public static final Label SUBSCRIPTION_FULL = new Label("reason", "subscription_full");

  /** A message arrived that was not an event of the expected publisher. */
  public static final Label MALFORMED = new Label("reason", "malformed");

  /** The event exceeded the largest message that the NATS server accepts. */
  public static final Label TOO_LARGE = new Label("reason", "too_large");

  /** The sequence of a publisher had a gap: events were lost on the way. */
  public static final Label MISSED = new Label("reason", "missed");

  private EventMetrics() {}
}
