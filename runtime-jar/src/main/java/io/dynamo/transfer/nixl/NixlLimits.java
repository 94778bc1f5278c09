package io.dynamo.transfer.nixl;

/**
 * The bounds of one connection.
 *
 * @param registrations ranges that are registered
 * @param registeredBytes bytes of those
 * @param keptBytes bytes of memory that is kept because the network may still touch it, after
 *     operations that did not end well
 */
public record NixlLimits(int registrations, long registeredBytes, long keptBytes) {
  public static final NixlLimits STANDARD = new NixlLimits(4096, 1L << 40, 1L << 30);

  public NixlLimits {
    if (registrations < 1 || registeredBytes < 1 || keptBytes < 1) {
      throw new IllegalArgumentException("limits are at least 1");
    }
  }
}
