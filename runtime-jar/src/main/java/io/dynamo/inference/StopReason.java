package io.dynamo.inference;

/** Which of the client's stops ended a generation. */
public sealed interface StopReason {
  /** A stop string. */
  record Text(String stop) implements StopReason {}

  /** A stop token. */
  record Token(int id) implements StopReason {}
}
