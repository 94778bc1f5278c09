package io.dynamo.frontend.socket;

/** A message of the peer of a socket, or its end. */
public sealed interface SocketMessage {
  /** A text. */
  record Text(String text) implements SocketMessage {}

  /** Bytes; their content is not kept. */
  record Binary(int bytes) implements SocketMessage {}

  /** A request to echo {@code payload}. */
  record Ping(byte[] payload) implements SocketMessage {}

  /** The echo of a ping. */
  record Pong() implements SocketMessage {}

  /** The peer closes the socket. */
  record Close(CloseReason reason) implements SocketMessage {}

  /** The connection ended without a close. */
  record Gone() implements SocketMessage {}
}
