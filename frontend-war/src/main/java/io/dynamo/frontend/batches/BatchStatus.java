package io.dynamo.frontend.batches;

import java.util.Locale;

/** How far a batch is, in OpenAI's words. */
public enum BatchStatus {
  VALIDATING,
  IN_PROGRESS,
  FINALIZING,
  CANCELLING,
  COMPLETED,
  FAILED,
  EXPIRED,
  CANCELLED;

  /** The name in answers and in the database. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  static BatchStatus of(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }

  /** Whether nothing more happens. */
  public boolean isOver() {
    return switch (this) {
      case VALIDATING, IN_PROGRESS, FINALIZING, CANCELLING -> false;
      case COMPLETED, FAILED, EXPIRED, CANCELLED -> true;
    };
  }
}
