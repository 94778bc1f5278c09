package io.dynamo.error;

/** One worker has no room for this request; another may. */
public final class WorkerBusyException extends Migratable {
  public WorkerBusyException(String message) {
    super(ErrorCode.WORKER_OVERLOADED, message, null);
  }
}
