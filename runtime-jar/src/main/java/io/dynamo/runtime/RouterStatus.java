package io.dynamo.runtime;

/**
 * Which router a server's parts use, and how much it has done: two parts that show the same id use
 * the same instance. Safe for concurrent use.
 */
public interface RouterStatus {
  /** Chosen at random when the router is made; hexadecimal. */
  String id();

  /** Requests that it has placed. */
  long placed();
}
