package io.dynamo.cli;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** A server on loopback with a text for each path; 404 for all others. */
final class AnsweringServer implements AutoCloseable {
  private final HttpServer server;
  private final Map<String, String> answers = new ConcurrentHashMap<>(); // by path
  private final Queue<String> keys = new ConcurrentLinkedQueue<>();
  private final String url;
  private volatile @Nullable Refusal refusal;
  private volatile String wantedKey = "";

  private record Refusal(int status, String text) {}

  AnsweringServer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          var key = exchange.getRequestHeaders().getFirst("Authorization");
          keys.add(key == null ? "" : key);
          var text = answers.get(exchange.getRequestURI().getPath());
          int status = text == null ? 404 : 200;
          var refused = refusal;
          if (refused != null) {
            text = refused.text();
            status = refused.status();
          } else if (!wantedKey.isEmpty() && !wantedKey.equals(key)) {
            status = 401;
          }
          var body =
              (text == null || status == 401 ? "{\"message\":\"nothing here\"}" : text)
                  .getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    url = "http://127.0.0.1:" + server.getAddress().getPort();
  }

  AnsweringServer put(String path, String text) {
    answers.put(path, text);
    return this;
  }

  /** Answers every request with this status and text. */
  void refuse(int status, String text) {
    refusal = new Refusal(status, text);
  }

  /** Refuses requests without this header of authorization with 401. */
  void require(String key) {
    wantedKey = key;
  }

  /** The headers of authorization of all requests, empty ones too. */
  List<String> keys() {
    return List.copyOf(keys);
  }

  String url() {
    return url;
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
