package io.dynamo.transfer.nixl;

/** The two directions of an operation. Numbers and names are those of Dynamo. */
public enum OperationKind {
  UNSPECIFIED(0, "<invalid>"),
  /** The active side reads memory of the passive one. */
  READ(1, "READ"),
  /** The active side writes memory of the passive one. */
  WRITE(2, "WRITE");

  private final int number;
  private final String text;

  OperationKind(int number, String text) {
    this.number = number;
    this.text = text;
  }

  public int number() {
    return number;
  }

  /**
   * Returns the kind of a number.
   *
   * @throws IllegalArgumentException for a number without a meaning
   */
  public static OperationKind of(long number) {
    for (var kind : values()) {
      if (kind.number == number) {
        return kind;
      }
    }
    throw new IllegalArgumentException(
        "operation_kind %d is neither 1 (READ) nor 2 (WRITE)".formatted(number));
  }

  @Override
  public String toString() {
    return text;
  }
}
