package io.dynamo.frontend.record;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/** A server that keeps the requests that it gets. */
final class HttpSink implements AutoCloseable {
  /**
   * @param headers by lower-case name
   */
  record Arrived(String method, String path, Map<String, String> headers, byte[] body) {}

  final BlockingQueue<Arrived> arrived = new LinkedBlockingQueue<>();
  volatile int status = 200;
  private final HttpServer server;

  HttpSink() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::take);
    server.start();
  }

  private void take(HttpExchange exchange) throws IOException {
    try (exchange) {
      var headers = new HashMap<String, String>();
      exchange
          .getRequestHeaders()
          .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.getFirst()));
      arrived.add(
          new Arrived(
              exchange.getRequestMethod(),
              exchange.getRequestURI().getRawPath(),
              headers,
              exchange.getRequestBody().readAllBytes()));
      exchange.sendResponseHeaders(status, -1);
    }
  }

  URI url(String path) {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
