package io.dynamo.frontend.admission;

import io.dynamo.metrics.Label;
import java.util.Locale;

/** The reason why a request was refused, or removed from the queue. */
@SuppressWarnings("ImmutableEnumChecker") // a label is a record of texts
enum RefusalReason {
  /** The server has reached its limit of concurrent requests. */
  SERVER_FULL,
  /** The queue of the model is full. */
  QUEUE_FULL,
  /** A request of higher priority took its place in the queue. */
  DISPLACED,
  /** The request waited for the longest time allowed. */
  WAITED_TOO_LONG,
  /** Every worker of the model is busy. */
  WORKERS_BUSY;

  private final Label label = new Label("reason", name().toLowerCase(Locale.ROOT));

  Label label() {
    return label;
  }
}
