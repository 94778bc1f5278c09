package io.dynamo.it;

import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.zip.GZIPInputStream;

/** Takes OTLP over HTTP, as a collector does, and keeps the spans. Safe for concurrent use. */
final class SpanCollector implements AutoCloseable {
  private final HttpServer server;
  private final List<Span> spans = new CopyOnWriteArrayList<>();
  private final List<String> services = new CopyOnWriteArrayList<>();
  private final List<String> credentials = new CopyOnWriteArrayList<>();

  SpanCollector() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/v1/traces",
        exchange -> {
          var given = exchange.getRequestHeaders().getFirst("x-credential");
          credentials.add(given == null ? "" : given);
          boolean zipped = "gzip".equals(exchange.getRequestHeaders().getFirst("content-encoding"));
          take(unzipped(exchange.getRequestBody().readAllBytes(), zipped));
          var answer = ExportTraceServiceResponse.getDefaultInstance().toByteArray();
          exchange.getResponseHeaders().set("content-type", "application/x-protobuf");
          exchange.sendResponseHeaders(200, answer.length == 0 ? -1 : answer.length);
          exchange.close();
        });
    server.start();
  }

  private static byte[] unzipped(byte[] body, boolean zipped) throws IOException {
    try (InputStream in = new ByteArrayInputStream(body)) {
      return zipped ? new GZIPInputStream(in).readAllBytes() : in.readAllBytes();
    }
  }

  private void take(byte[] body) throws IOException {
    for (var resource : ExportTraceServiceRequest.parseFrom(body).getResourceSpansList()) {
      services.add(attributes(resource.getResource().getAttributesList()).get("service.name"));
      resource.getScopeSpansList().forEach(scope -> spans.addAll(scope.getSpansList()));
    }
  }

  /** The collector's address that a server is configured with. */
  String base() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** The spans of a trace so far. */
  List<Span> trace(String traceId) {
    return spans.stream()
        .filter(span -> hex(span.getTraceId().toByteArray()).equals(traceId))
        .toList();
  }

  List<String> services() {
    return services;
  }

  List<String> credentials() {
    return credentials;
  }

  static String id(Span span) {
    return hex(span.getSpanId().toByteArray());
  }

  static String parent(Span span) {
    return hex(span.getParentSpanId().toByteArray());
  }

  static Map<String, String> attributes(Span span) {
    return attributes(span.getAttributesList());
  }

  private static Map<String, String> attributes(List<KeyValue> pairs) {
    var values = new TreeMap<String, String>();
    for (var pair : pairs) {
      values.put(
          pair.getKey(),
          pair.getValue().hasStringValue()
              ? pair.getValue().getStringValue()
              : Long.toString(pair.getValue().getIntValue()));
    }
    return values;
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
