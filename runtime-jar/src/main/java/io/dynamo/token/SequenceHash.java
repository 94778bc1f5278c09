package io.dynamo.token;

/**
 * The hash of a block together with all blocks before it. Unsigned. Engines choose these values, so
 * that many may share a hash code; being comparable, they do not slow down a hash map all the same.
 */
public record SequenceHash(long value) implements Comparable<SequenceHash> {
  @Override
  public int compareTo(SequenceHash other) {
    return Long.compareUnsigned(value, other.value);
  }

  @Override
  public String toString() {
    return Long.toUnsignedString(value);
  }
}
