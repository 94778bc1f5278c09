package io.dynamo.discovery;

/**
 * The identity of a process in discovery, shared by all its endpoints and model cards; also the
 * worker id of the router.
 *
 * @param value an unsigned 64-bit number
 */
public record InstanceId(long value) implements Comparable<InstanceId> {
  public static InstanceId ofHex(String hex) {
    return new InstanceId(Long.parseUnsignedLong(hex, 16));
  }

  /** Returns lower-case hex without padding, as in keys and paths. */
  public String hex() {
    return Long.toHexString(value);
  }

  @Override
  public int compareTo(InstanceId other) {
    return Long.compareUnsigned(value, other.value);
  }

  @Override
  public String toString() {
    return hex();
  }
}
