package io.dynamo.frontend.warmup;

import io.dynamo.concurrent.Deadline;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** One kept connection of HTTP/1.1 to the server's own port. One thread. */
final class WarmUpClient implements AutoCloseable {
  private static final int MAX_LINE = 8192;

  private final Socket socket = new Socket();
  private final InputStream in;

  /** Connects within the time that {@code deadline} leaves. */
  WarmUpClient(InetSocketAddress address, Deadline deadline) throws IOException {
    try {
      socket.setTcpNoDelay(true);
      socket.connect(address, millis(deadline));
      in = new BufferedInputStream(socket.getInputStream(), 1 << 14);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  private static int millis(Deadline deadline) {
    return Math.clamp(deadline.remainingNanos() / 1_000_000, 1, Integer.MAX_VALUE);
  }

  /**
   * Sends a request and reads its whole answer.
   *
   * @return the status
   * @throws IOException when the connection ends before, or takes longer than {@code deadline}
   */
  int post(String path, String header, String json, Deadline deadline) throws IOException {
    var body = json.getBytes(StandardCharsets.UTF_8);
    var head =
        "POST %s HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            .formatted(path, header, body.length)
            .getBytes(StandardCharsets.US_ASCII);
    var request = new byte[head.length + body.length];
    System.arraycopy(head, 0, request, 0, head.length);
    System.arraycopy(body, 0, request, head.length, body.length);
    socket.setSoTimeout(millis(deadline));
    socket.getOutputStream().write(request);
    return read(deadline);
  }

  private int read(Deadline deadline) throws IOException {
    var status = line();
    long length = 0;
    for (var header = line(); !header.isEmpty(); header = line()) {
      int colon = header.indexOf(':');
      var value = header.substring(colon + 1).strip();
      if (header.regionMatches(true, 0, "content-length", 0, colon)) {
        length = Long.parseLong(value);
      } else if (header.regionMatches(true, 0, "transfer-encoding", 0, colon)) {
        length = -1;
      }
    }
    if (length >= 0) {
      in.skipNBytes(length);
    } else {
      for (long chunk = chunk(); chunk > 0; chunk = chunk()) {
        in.skipNBytes(chunk);
        line();
        socket.setSoTimeout(millis(deadline));
      }
      line();
    }
    return Integer.parseInt(status.split(" ", -1)[1]);
  }

  private long chunk() throws IOException {
    return Long.parseLong(line(), 16);
  }

  private String line() throws IOException {
    var text = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0 || text.length() > MAX_LINE) {
        throw new EOFException("the server ended a connection within its answer");
      }
      if (next != '\r') {
        text.append((char) next);
      }
    }
    return text.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
