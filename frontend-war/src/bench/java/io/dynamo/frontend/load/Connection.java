package io.dynamo.frontend.load;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Set;

/**
 * One client's connection of HTTP/1.1, kept while the server keeps it, and as little work per byte
 * as will do: the generator shares the machine. One thread.
 */
final class Connection implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 120_000;
  private static final Set<Integer> REFUSALS = Set.of(429, 503, 529);

  private final int port;
  private final byte[] beforeText;
  private final Figures figures;
  private Socket socket;
  private InputStream in;
  private boolean ending; // the server closes after this answer
  private final byte[] buffer = new byte[1 << 15];
  private int at;
  private int end;
  private int matched; // bytes of beforeText that the last ones read are
  private boolean chunked;
  private long length;

  Connection(int port, TextApi api, Figures figures) throws IOException {
    this.port = port;
    this.beforeText = api.beforeText();
    this.figures = figures;
    open();
  }

  private void open() throws IOException {
    socket = new Socket();
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    in = socket.getInputStream();
    at = end = 0;
    ending = false;
  }

  /**
   * Sends a request and reads its answer.
   *
   * @param due nanoseconds, from when the latency counts
   */
  Answer ask(byte[] request, long due) throws IOException {
    if (ending) {
      socket.close();
      open();
    }
    socket.getOutputStream().write(request);
    var status = line();
    head();
    int code = Integer.parseInt(status.split(" ")[1]);
    var answer = new Answer(due, REFUSALS.contains(code));
    if (chunked) {
      for (long size = Long.parseLong(line(), 16); size > 0; size = Long.parseLong(line(), 16)) {
        body(size, answer);
        line();
      }
      line();
    } else {
      body(length, answer);
    }
    answer.ended(System.nanoTime());
    if (code != 200 && !answer.refused()) {
      throw new IOException(status);
    }
    return answer;
  }

  private void head() throws IOException {
    chunked = false;
    length = 0;
    for (var header = line(); !header.isEmpty(); header = line()) {
      var lower = header.toLowerCase(java.util.Locale.ROOT);
      if (lower.startsWith("transfer-encoding:")) {
        chunked = true;
      } else if (lower.startsWith("content-length:")) {
        length = Long.parseLong(lower.substring(15).strip());
      } else if (lower.startsWith("connection:")) {
        ending = lower.substring(11).strip().equals("close");
      }
    }
  }

  /** Counts the deltas that carry text. */
  private void body(long size, Answer answer) throws IOException {
    for (long left = size; left > 0; ) {
      if (at == end) {
        fill();
      }
      int stop = (int) Math.min(end, at + left);
      left -= stop - at;
      while (at < stop) {
        byte b = buffer[at++];
        if (matched == beforeText.length) {
          matched = 0;
          if (b != '"') {
            figures.token(answer.token());
          }
        } else if (b == beforeText[matched]) {
          matched++;
        } else {
          matched = b == beforeText[0] ? 1 : 0;
        }
      }
    }
  }

  private void fill() throws IOException {
    end = in.read(buffer);
    at = 0;
    if (end < 0) {
      throw new EOFException("the server closed the connection");
    }
  }

  private String line() throws IOException {
    var text = new StringBuilder();
    while (true) {
      if (at == end) {
        fill();
      }
      char c = (char) buffer[at++];
      if (c == '\n') {
        return text.toString();
      }
      if (c != '\r') {
        text.append(c);
      }
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
