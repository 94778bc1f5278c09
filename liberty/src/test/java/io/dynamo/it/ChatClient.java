package io.dynamo.it;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * One chat completion on a connection of its own, read byte by byte: any deviation from HTTP/1.1
 * chunking, from the event-stream format or from OpenAI's frames is an {@link AssertionError}. Used
 * by one thread, except that any thread may hang up.
 */
final class ChatClient implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration READ_LIMIT = Duration.ofMinutes(1);

  /**
   * One event of a stream.
   *
   * @param data the JSON text, {@code [DONE]}, or null for a comment
   * @param arrivedNanos {@link System#nanoTime} at its last byte
   */
  record Event(@Nullable String data, long arrivedNanos) {
    boolean isComment() {
      return data == null;
    }

    boolean isDone() {
      return "[DONE]".equals(data);
    }

    /** The text it adds; empty for comments, the end, and frames without text. */
    String text() {
      if (data == null || isDone()) {
        return "";
      }
      return parse(data).path("choices").path(0).path("delta").path("content").asText("");
    }
  }

  private final Socket wire;
  private final Socket socket; // what is spoken through: the wire itself, or TLS over it
  private final InputStream in;
  private final Map<String, String> headers = new HashMap<>();
  private int status;
  private long chunkLeft; // of the current chunk; -1 before the first, MIN_VALUE after the last

  private ChatClient(Socket wire, Socket socket) throws IOException {
    this.wire = wire;
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  /** Sends a chat completion request and returns without waiting for the answer. */
  static ChatClient post(int port, String body) throws IOException {
    return post(port, (SSLContext) null, body);
  }

  /** The same to another route, of which only the status and the headers can be read. */
  static ChatClient post(int port, String path, String body) throws IOException {
    return post(port, null, path, body);
  }

  /**
   * The same.
   *
   * @param tls what to speak it with; null speaks in the clear
   */
  static ChatClient post(int port, @Nullable SSLContext tls, String body) throws IOException {
    return post(port, tls, "/v1/chat/completions", body);
  }

  private static ChatClient post(int port, @Nullable SSLContext tls, String path, String body)
      throws IOException {
    var wire = new Socket();
    wire.setTcpNoDelay(true);
    wire.setSoTimeout((int) READ_LIMIT.toMillis());
    wire.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 5_000);
    var socket = tls == null ? wire : secured(wire, port, tls);
    var client = new ChatClient(wire, socket);
    var bytes = body.getBytes(StandardCharsets.UTF_8);
    var head =
        "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            .formatted(path, port, bytes.length);
    var out = socket.getOutputStream();
    out.write(head.getBytes(StandardCharsets.US_ASCII));
    out.write(bytes);
    out.flush();
    return client;
  }

  private static Socket secured(Socket wire, int port, SSLContext tls) throws IOException {
    var over = (SSLSocket) tls.getSocketFactory().createSocket(wire, "127.0.0.1", port, true);
    var parameters = over.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    over.setSSLParameters(parameters);
    over.startHandshake();
    return over;
  }

  /** A request body. */
  static String body(String model, String prompt, int maxTokens, boolean stream) {
    var request = JSON.createObjectNode();
    request.put("model", model).put("stream", stream).put("max_tokens", maxTokens);
    request.put("temperature", 0).put("seed", 1);
    request.putArray("messages").addObject().put("role", "user").put("content", prompt);
    return request.toString();
  }

  /** Reads the status line and the headers. */
  int status() throws IOException {
    if (status == 0) {
      var line = line();
      check(line.matches("HTTP/1\\.1 [1-5]\\d\\d( .*)?"), "status line", line);
      status = Integer.parseInt(line.substring(9, 12));
      for (var header = line(); !header.isEmpty(); header = line()) {
        int colon = header.indexOf(':');
        check(colon > 0, "header", header);
        headers.put(
            header.substring(0, colon).toLowerCase(Locale.ROOT),
            header.substring(colon + 1).strip());
      }
      chunkLeft = -1;
    }
    return status;
  }

  /** A header of the answer, by its name in lower case. */
  @Nullable String header(String name) throws IOException {
    status();
    return headers.get(name);
  }

  /** The next event of the stream, or null at its proper end. */
  @Nullable Event next() throws IOException {
    check(status() == 200, "status", Integer.toString(status));
    var type = String.valueOf(headers.get("content-type"));
    check(type.startsWith("text/event-stream"), "content type", type);
    String data = null;
    boolean comment = false;
    while (true) {
      var line = bodyLine();
      if (line == null) {
        check(data == null && !comment, "end inside an event", String.valueOf(data));
        return null;
      }
      if (line.isEmpty()) {
        check(data != null || comment, "empty event", "");
        return new Event(data, System.nanoTime());
      }
      if (line.startsWith(":")) {
        comment = true;
      } else {
        check(line.startsWith("data: ") && data == null, "event line", line);
        data = line.substring(6);
      }
    }
  }

  /** Every event to the end, which must be {@code [DONE]} with nothing behind it. */
  List<Event> events() throws IOException {
    var events = new ArrayList<Event>();
    for (var event = next(); event != null; event = next()) {
      check(
          events.isEmpty() || !events.getLast().isDone(),
          "event after the end",
          String.valueOf(event.data()));
      events.add(event);
    }
    check(
        !events.isEmpty() && events.getLast().isDone(), "no [DONE] at the end", events.toString());
    return events;
  }

  /** The text of a whole stream. */
  String text() throws IOException {
    var text = new StringBuilder();
    events().forEach(event -> text.append(event.text()));
    return text.toString();
  }

  /** The body of a unary answer. */
  JsonNode json() throws IOException {
    status();
    var length = headers.get("content-length");
    if (length != null) {
      return parse(new String(in.readNBytes(Integer.parseInt(length)), StandardCharsets.UTF_8));
    }
    var text = new StringBuilder();
    for (var line = bodyLine(); line != null; line = bodyLine()) {
      text.append(line).append('\n');
    }
    return parse(text.toString());
  }

  /**
   * Hangs up in order: TLS says goodbye, the kernel sends FIN. What has come by then is read first,
   * as a client does that waits for its answer: the kernel makes a close with bytes unread (TLS
   * tickets, comments) a reset.
   */
  void hangUp() throws IOException {
    wire.setSoTimeout(1);
    try {
      while (in.read() >= 0) {}
    } catch (SocketTimeoutException nothingMore) {
      // it has read all
    }
    socket.shutdownOutput();
    if (!wire.isOutputShutdown()) {
      wire.shutdownOutput();
    }
    wire.close();
  }

  /** Hangs up hard: the kernel sends RST, and TLS says nothing. */
  void reset() throws IOException {
    wire.setSoLinger(true, 0);
    wire.close();
  }

  @Override
  public void close() throws IOException {
    wire.close();
  }

  private String line() throws IOException {
    var line = new StringBuilder();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("connection ended inside a line: " + line);
      }
      line.append((char) b);
    }
    check(line.toString().endsWith("\r"), "line end", line.toString());
    line.setLength(line.length() - 1);
    return line.toString();
  }

  /** A line of the body without its end, or null where the last chunk ends it. */
  private @Nullable String bodyLine() throws IOException {
    var bytes = new ByteArrayOutputStream();
    for (int b = bodyByte(); b != '\n'; b = bodyByte()) {
      if (b < 0) {
        return bytes.size() == 0 ? null : bytes.toString(StandardCharsets.UTF_8);
      }
      bytes.write(b);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private int bodyByte() throws IOException {
    if (chunkLeft == Long.MIN_VALUE) {
      return -1;
    }
    if (chunkLeft <= 0) {
      var length = headers.get("content-length");
      if (length != null) { // a stream that was over before its headers left
        check(headers.get("transfer-encoding") == null, "two lengths", headers.toString());
        boolean over = chunkLeft == 0;
        chunkLeft = over ? Long.MIN_VALUE : Long.parseLong(length);
        return bodyByte();
      }
      if (chunkLeft == 0) {
        check(line().isEmpty(), "chunk end", "");
      } else {
        check(
            "chunked".equals(headers.get("transfer-encoding")), "not chunked", headers.toString());
      }
      var size = line();
      check(size.matches("[0-9a-fA-F]{1,8}"), "chunk size", size);
      chunkLeft = Long.parseLong(size, 16);
      if (chunkLeft == 0) {
        check(line().isEmpty(), "trailer", "");
        chunkLeft = Long.MIN_VALUE;
        return -1;
      }
    }
    chunkLeft--;
    int b = in.read();
    check(b >= 0, "connection ended inside a chunk", "");
    return b;
  }

  private static JsonNode parse(String json) {
    try {
      return JSON.readTree(json);
    } catch (JsonProcessingException broken) {
      throw new AssertionError("not JSON: " + json, broken);
    }
  }

  private static void check(boolean holds, String what, String seen) {
    if (!holds) {
      throw new AssertionError(what + ": " + seen);
    }
  }
}
