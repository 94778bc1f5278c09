package io.dynamo.error;

import org.jspecify.annotations.Nullable;

/**
 * A failure as it may be logged: its kinds and stack frames and those of its causes. Messages are
 * left out, as they may repeat text of a client or a model.
 */
public final class FailureShape extends Exception {
  private static final long serialVersionUID = 1L;
  private static final int MOST_CAUSES = 8;

  private FailureShape(Throwable failure, @Nullable FailureShape cause) {
    super(kind(failure), cause, false, true);
    setStackTrace(failure.getStackTrace());
  }

  /** Returns the class of a failure, and its code where it has one. */
  private static String kind(Throwable failure) {
    var name = failure.getClass().getName();
    return failure instanceof DynamoException known ? name + " (" + known.code() + ")" : name;
  }

  public static FailureShape of(Throwable failure) {
    return of(failure, MOST_CAUSES);
  }

  private static FailureShape of(Throwable failure, int causes) {
    var cause = failure.getCause();
    return new FailureShape(failure, cause == null || causes == 0 ? null : of(cause, causes - 1));
  }
}
