package io.dynamo.it;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A realtime session by a bare socket, which answers nothing and never ends its connection. */
final class SilentClient implements AutoCloseable {
  private static final int LIMIT_MILLIS = 60_000;
  private static final int CLOSE = 0x88;

  private final Socket socket;
  private final DataInputStream in;

  private SilentClient(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new DataInputStream(socket.getInputStream());
  }

  /** A session under way. */
  static SilentClient connect(ServerProcess server) throws IOException {
    var address = server.uri("");
    var socket = new Socket(address.getHost(), address.getPort());
    socket.setSoTimeout(LIMIT_MILLIS);
    var client = new SilentClient(socket);
    client.shakeHands(address.getAuthority());
    return client;
  }

  private void shakeHands(String authority) throws IOException {
    socket
        .getOutputStream()
        .write(
            """
            GET /v1/realtime HTTP/1.1\r
            Host: %s\r
            Connection: Upgrade\r
            Upgrade: websocket\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            \r
            """
                .formatted(authority)
                .getBytes(StandardCharsets.US_ASCII));
    var head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      head.append((char) in.readUnsignedByte());
    }
    if (!head.toString().startsWith("HTTP/1.1 101")) {
      throw new AssertionError(head.toString());
    }
  }

  /** Sends an event of a few bytes. */
  void send(String event) throws IOException {
    var payload = event.getBytes(StandardCharsets.UTF_8);
    if (payload.length >= 126) {
      throw new IllegalArgumentException("too long for this: " + event);
    }
    var frame = new ByteArrayOutputStream();
    frame.write(0x81);
    frame.write(0x80 | payload.length);
    frame.writeBytes(new byte[4]); // a mask that changes nothing
    frame.writeBytes(payload);
    socket.getOutputStream().write(frame.toByteArray());
  }

  /** Reads until the server closes the session; does not answer. */
  void awaitClose() throws IOException {
    int first;
    do {
      first = in.readUnsignedByte();
      int length = in.readUnsignedByte();
      in.skipNBytes(
          length == 126 ? in.readUnsignedShort() : length == 127 ? in.readLong() : length);
    } while (first != CLOSE);
  }

  /** Waits until the server ends the connection. */
  void awaitEnd() throws IOException {
    if (in.read() >= 0) {
      throw new AssertionError("the server says more after its close");
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
