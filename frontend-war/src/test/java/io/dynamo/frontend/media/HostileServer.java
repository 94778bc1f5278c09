package io.dynamo.frontend.media;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** An HTTP server on loopback that answers each request as a test says, byte by byte. */
final class HostileServer implements AutoCloseable {
  /** Answers one request. */
  @FunctionalInterface
  interface Script {
    void answer(String target, OutputStream out) throws Exception;
  }

  private final ServerSocket listener;
  private final Script script;
  private final List<List<String>> heads = new CopyOnWriteArrayList<>();
  private final List<Socket> open = new CopyOnWriteArrayList<>();

  HostileServer(Script script) throws IOException {
    this.script = script;
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  /** Answers with the status line and headers of {@code head} and then {@code body}. */
  static Script with(String head, byte[] body) {
    return (_, out) -> {
      out.write(("HTTP/1.1 " + head + "\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1));
      out.write(body);
    };
  }

  static Script file(String type, byte[] body) {
    return with("200 OK\r\nContent-Type: " + type + "\r\nContent-Length: " + body.length, body);
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        var socket = listener.accept();
        open.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      var in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
      var head = new ArrayList<String>();
      for (var line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
        head.add(line);
      }
      heads.add(head);
      var out = socket.getOutputStream();
      script.answer(head.getFirst().split(" ", -1)[1], out);
      out.flush();
    } catch (Exception e) {
      // the client left
    }
  }

  int port() {
    return listener.getLocalPort();
  }

  /** The heads of all requests so far, each by lines. */
  List<List<String>> heads() {
    return heads;
  }

  /** Whether clients have closed all connections. */
  boolean isLeft() {
    return open.stream().allMatch(Socket::isClosed);
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (var socket : open) {
      socket.close();
    }
  }
}
