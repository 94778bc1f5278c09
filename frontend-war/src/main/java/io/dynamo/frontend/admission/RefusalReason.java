package io.dynamo.frontend.admission;

import io.dynamo.metrics.Label;
import java.util.Locale;

/** Why a request was not let in, or not for long. */
@SuppressWarnings("ImmutableEnumChecker") // a label is a record of texts
enum RefusalReason {
  /** The server has as many requests as it takes. */
  SERVER_FULL,
  /** As many wait for the model as may. */
  QUEUE_FULL,
  /** One that goes first took its place in the queue. */
  DISPLACED,
  /** It has waited as long as it may. */
  WAITED_TOO_LONG,
  /** Every worker of the model is busy. */
  WORKERS_BUSY;

  private final Label label = new Label("reason", name().toLowerCase(Locale.ROOT));

  Label label() {
    return label;
  }
}
