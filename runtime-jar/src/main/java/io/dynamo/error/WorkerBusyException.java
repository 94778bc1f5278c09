package io.dynamo.error;

/**
 * Thrown when one worker cannot take this request, for lack of room or because it does not serve
 * the model; another may.
 */
public final class WorkerBusyException extends Migratable {
  public WorkerBusyException(String message) {
    super(ErrorCode.WORKER_OVERLOADED, message, null);
  }
}
