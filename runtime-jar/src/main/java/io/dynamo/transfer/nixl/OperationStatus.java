package io.dynamo.transfer.nixl;

/** How far an operation is. Numbers and texts are those of Dynamo. */
public enum OperationStatus {
  /** Not handed to the library yet. */
  UNINITIALIZED(0, "<invalid>"),
  /** Handed to the library, or waiting for the peer. */
  INITIALIZED(1, "INIT"),
  /** Bytes are on their way. */
  IN_PROGRESS(2, "PROC"),
  /** All bytes are in place. */
  COMPLETE(3, "DONE"),
  /** Given up by its owner. */
  CANCELLED(4, "STOP"),
  /** Failed: the library, the peer, or the time it had. */
  ERRORED(5, "ERR");

  /** A cause of a change of status. */
  enum Step {
    /** A passive operation offers its memory. */
    OFFERED,
    /** The library has taken the transfer. */
    POSTED,
    /** The library has been asked, and is not done. */
    POLLED,
    /** The library is done, or the peer's notification is here. */
    DONE,
    /** The library failed, the peer is lost, or the time is over. */
    FAILED,
    CANCELLED
  }

  private final int number;
  private final String text;

  OperationStatus(int number, String text) {
    this.number = number;
    this.text = text;
  }

  public int number() {
    return number;
  }

  /** Returns whether nothing changes the status any more. */
  public boolean isFinal() {
    return this == COMPLETE || this == CANCELLED || this == ERRORED;
  }

  /** Returns the status that follows a step; this one where the step changes nothing. */
  OperationStatus after(Step step) {
    if (isFinal()) {
      return this;
    }
    return switch (step) {
      case OFFERED, POSTED -> this == UNINITIALIZED ? INITIALIZED : this;
      case POLLED -> this == INITIALIZED ? IN_PROGRESS : this;
      case DONE -> COMPLETE;
      case FAILED -> ERRORED;
      case CANCELLED -> CANCELLED;
    };
  }

  @Override
  public String toString() {
    return text;
  }
}
