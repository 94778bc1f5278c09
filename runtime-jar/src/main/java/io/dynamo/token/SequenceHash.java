package io.dynamo.token;

/** The hash of a block together with all blocks before it. Unsigned. */
public record SequenceHash(long value) {
  @Override
  public String toString() {
    return Long.toUnsignedString(value);
  }
}
