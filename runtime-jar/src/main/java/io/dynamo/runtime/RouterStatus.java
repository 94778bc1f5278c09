package io.dynamo.runtime;

/**
 * The identity and activity of the router that a part of the server uses: two parts that show the
 * same id use the same instance. Safe for concurrent use.
 */
public interface RouterStatus {
  /** Returns the id, hexadecimal, chosen at random when the router is created. */
  String id();

  /** Returns the number of requests that it has placed. */
  long placed();
}
