package io.dynamo.inference;

/** The client's stop that ended a generation. */
public sealed interface StopReason {
  /** A stop string. */
  record Text(String stop) implements StopReason {}

  /** A stop token. */
  record Token(int id) implements StopReason {}
}
