package io.dynamo.discovery.kubernetes;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * A Kubernetes API server for one namespace, as far as discovery uses it: lists with resource
 * versions, watches from a version with bookmarks and 410 once it is compacted away, server-side
 * apply, deletion, bearer tokens, label selectors.
 */
final class ApiServer implements AutoCloseable {
  static final String NAMESPACE = "serving";
  static final String TOKEN = "the-token-of-the-service-account";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SLICES = "endpointslices";
  private static final String PODS = "pods";

  /** One change. */
  private record Change(long version, String plural, String type, ObjectNode object) {}

  private final HttpServer http;
  private final Map<String, TreeMap<String, ObjectNode>> stored = new HashMap<>(); // by plural
  private final List<Change> changes = new ArrayList<>();
  private final Map<HttpExchange, Boolean> watches = new ConcurrentHashMap<>();
  private long version = 100;
  private long compacted; // changes up to this one are gone
  private boolean refuses; // every call
  private volatile @Nullable HeldWrites heldWrites;

  private int applied;
  private int listed;

  private ApiServer(HttpServer http) {
    this.http = http;
    http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    http.createContext("/", this::serve);
  }

  static ApiServer start() throws IOException {
    var server =
        new ApiServer(
            HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
    server.http.start();
    return server;
  }

  String url() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }

  /** Says in a slice whether a pod is ready. */
  void setPodReady(String pod, boolean ready) {
    put(
        SLICES,
        "service-" + pod,
        Map.of(
            "apiVersion", "discovery.k8s.io/v1",
            "kind", "EndpointSlice",
            "addressType", "IPv4",
            "endpoints",
                List.of(
                    Map.of(
                        "addresses", List.of("10.0.0.7"),
                        "conditions", Map.of("ready", ready),
                        "targetRef", Map.of("kind", "Pod", "name", pod)))));
  }

  /** Says of each container of a pod whether it is ready. */
  void setContainersReady(String pod, Map<String, Boolean> ready) {
    put(
        PODS,
        pod,
        Map.of(
            "apiVersion", "v1",
            "kind", "Pod",
            "status",
                Map.of(
                    "containerStatuses",
                    ready.entrySet().stream()
                        .map(each -> Map.of("name", each.getKey(), "ready", each.getValue()))
                        .toList())));
  }

  /** Writes an object as somebody else does. */
  synchronized void put(String plural, String name, Map<String, ?> content) {
    var object = JSON.valueToTree(content).<ObjectNode>deepCopy();
    var metadata = object.withObject("/metadata");
    metadata.put("name", name).put("namespace", NAMESPACE);
    metadata.withObject("/labels").put("nvidia.com/dynamo-discovery-enabled", "true");
    store(plural, name, object);
  }

  private void store(String plural, String name, ObjectNode object) {
    var objects = stored.computeIfAbsent(plural, _ -> new TreeMap<>());
    var before = objects.get(name);
    var metadata = object.withObject("/metadata");
    metadata.put(
        "uid",
        before == null
            ? UUID.randomUUID().toString()
            : before.path("metadata").path("uid").textValue());
    metadata.remove("resourceVersion");
    if (before != null) {
      var same = before.deepCopy();
      same.withObject("/metadata").remove("resourceVersion");
      if (same.equals(object)) { // an apply that changes nothing makes no version
        metadata.set("resourceVersion", before.path("metadata").path("resourceVersion"));
        return;
      }
    }
    metadata.put("resourceVersion", String.valueOf(++version));
    objects.put(name, object);
    changes.add(
        new Change(version, plural, before == null ? "ADDED" : "MODIFIED", object.deepCopy()));
    notifyAll();
  }

  synchronized boolean delete(String plural, String name) {
    var objects = stored.getOrDefault(plural, new TreeMap<>());
    var gone = objects.remove(name);
    if (gone == null) {
      return false;
    }
    gone.withObject("/metadata").put("resourceVersion", String.valueOf(++version));
    changes.add(new Change(version, plural, "DELETED", gone));
    notifyAll();
    return true;
  }

  /** The stored object; null when there is none. */
  synchronized @Nullable ObjectNode object(String plural, String name) {
    return stored.getOrDefault(plural, new TreeMap<>()).get(name);
  }

  /** Forgets all changes so far: who watches from before hears 410. */
  synchronized void compact() {
    compacted = version;
    changes.clear();
  }

  /** Ends all watches. */
  void cutWatches() {
    watches.keySet().forEach(HttpExchange::close);
  }

  synchronized void setRefusing(boolean refusing) {
    refuses = refusing;
  }

  /**
   * Writes that are not answered.
   *
   * @param arrived counted down by the first of them
   * @param answered has them answered when it is counted down
   */
  record HeldWrites(CountDownLatch arrived, CountDownLatch answered) {}

  HeldWrites holdWrites() {
    var held = new HeldWrites(new CountDownLatch(1), new CountDownLatch(1));
    heldWrites = held;
    return held;
  }

  synchronized int applied() {
    return applied;
  }

  synchronized int listed() {
    return listed;
  }

  private void serve(HttpExchange exchange) throws IOException {
    try {
      answer(exchange);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } finally {
      exchange.close();
    }
  }

  private void answer(HttpExchange exchange) throws IOException, InterruptedException {
    var query = query(exchange);
    var parts = exchange.getRequestURI().getPath().split("/");
    int at = List.of(parts).indexOf("namespaces");
    synchronized (this) {
      if (refuses) {
        fail(exchange, 503, "ServiceUnavailable", "etcdserver: no leader");
        return;
      }
    }
    var header = exchange.getRequestHeaders().getFirst("Authorization");
    if (!("Bearer " + TOKEN).equals(header)) {
      fail(exchange, 401, "Unauthorized", "Unauthorized");
    } else if (at < 0 || !parts[at + 1].equals(NAMESPACE)) {
      fail(exchange, 404, "NotFound", "no such namespace");
    } else {
      var plural = parts[at + 2];
      var name = parts.length > at + 3 ? parts[at + 3] : "";
      switch (exchange.getRequestMethod()) {
        case "GET" -> {
          if ("true".equals(query.get("watch"))) {
            watch(exchange, plural, query);
          } else if (name.isEmpty()) {
            list(exchange, plural, query);
          } else {
            var found = object(plural, name);
            if (found == null) {
              fail(exchange, 404, "NotFound", plural + " \"" + name + "\" not found");
            } else {
              send(exchange, 200, found);
            }
          }
        }
        case "PATCH" -> apply(exchange, plural, name, query);
        case "DELETE" -> {
          if (delete(plural, name)) {
            send(
                exchange,
                200,
                JSON.createObjectNode().put("kind", "Status").put("status", "Success"));
          } else {
            fail(exchange, 404, "NotFound", plural + " \"" + name + "\" not found");
          }
        }
        default -> fail(exchange, 405, "MethodNotAllowed", exchange.getRequestMethod());
      }
    }
  }

  private void apply(HttpExchange exchange, String plural, String name, Map<String, String> query)
      throws IOException, InterruptedException {
    var held = heldWrites;
    if (held != null) {
      held.arrived().countDown();
      held.answered().await();
    }
    var type = String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type"));
    var body = JSON.readTree(exchange.getRequestBody());
    ObjectNode answer;
    synchronized (this) {
      applied++;
      if (!type.startsWith("application/apply-patch")) {
        fail(exchange, 415, "UnsupportedMediaType", type);
        return;
      }
      if (query.getOrDefault("fieldManager", "").isEmpty()) {
        fail(exchange, 400, "BadRequest", "fieldManager is required for apply patch");
        return;
      }
      if (!(body instanceof ObjectNode object)
          || !object.path("metadata").path("name").asText().equals(name)
          || object.path("apiVersion").asText().isEmpty()
          || object.path("kind").asText().isEmpty()) {
        fail(exchange, 400, "BadRequest", "the object has no such name, or no kind");
        return;
      }
      if (object.path("metadata").hasNonNull("managedFields")) {
        fail(exchange, 400, "BadRequest", "metadata.managedFields must be nil");
        return;
      }
      object.withObject("/metadata").put("namespace", NAMESPACE);
      store(plural, name, object);
      answer = object.deepCopy();
    }
    send(exchange, 200, answer);
  }

  private synchronized void list(HttpExchange exchange, String plural, Map<String, String> query)
      throws IOException {
    listed++;
    var answer = JSON.createObjectNode();
    answer.put("kind", "List").put("apiVersion", "v1");
    answer.withObject("/metadata").put("resourceVersion", String.valueOf(version));
    var items = answer.withArray("/items");
    stored.getOrDefault(plural, new TreeMap<>()).values().stream()
        .filter(object -> matches(object, query))
        .forEach(object -> items.add(object.deepCopy()));
    send(exchange, 200, answer);
  }

  private void watch(HttpExchange exchange, String plural, Map<String, String> query)
      throws IOException, InterruptedException {
    long from = Long.parseLong(query.getOrDefault("resourceVersion", "0"));
    synchronized (this) {
      if (from < compacted) {
        fail(exchange, 410, "Expired", "too old resource version: " + from);
        return;
      }
    }
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, 0);
    watches.put(exchange, true);
    try (var out = exchange.getResponseBody()) {
      while (true) {
        List<Change> news;
        synchronized (this) {
          long after = from;
          if (from < compacted) { // a change that this watch has not sent is gone
            event(out, "ERROR", status(410, "Expired", "too old resource version: " + from));
            return;
          }
          if (changes.stream().noneMatch(change -> change.version > after)) {
            wait(1000);
          }
          news = changes.stream().filter(change -> change.version > after).toList();
        }
        for (var change : news) {
          from = change.version;
          if (change.plural.equals(plural) && matches(change.object, query)) {
            event(out, change.type, change.object);
          }
        }
        var mark = JSON.createObjectNode();
        mark.withObject("/metadata").put("resourceVersion", String.valueOf(from));
        event(out, "BOOKMARK", mark.put("kind", "Bookmark").put("apiVersion", "v1"));
      }
    } finally {
      watches.remove(exchange);
    }
  }

  private static void event(OutputStream out, String type, ObjectNode object) throws IOException {
    var event = JSON.createObjectNode().put("type", type);
    event.set("object", object);
    out.write((event + "\n").getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  private static boolean matches(ObjectNode object, Map<String, String> query) {
    var selector = query.get("labelSelector");
    if (selector == null) {
      return true;
    }
    var labels = object.path("metadata").path("labels");
    for (var term : selector.split(",", -1)) {
      var pair = term.split("=", 2);
      if (!labels.path(pair[0]).asText().equals(pair[1])) {
        return false;
      }
    }
    return true;
  }

  private static Map<String, String> query(HttpExchange exchange) {
    var query = new HashMap<String, String>();
    var raw = exchange.getRequestURI().getRawQuery();
    for (var pair : (raw == null ? "" : raw).split("&", -1)) {
      var parts = pair.split("=", 2);
      query.put(
          parts[0], parts.length == 1 ? "" : URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
    }
    return query;
  }

  private static ObjectNode status(int code, String reason, String message) {
    return JSON.createObjectNode()
        .put("kind", "Status")
        .put("apiVersion", "v1")
        .put("status", "Failure")
        .put("message", message)
        .put("reason", reason)
        .put("code", code);
  }

  private static void fail(HttpExchange exchange, int code, String reason, String message) {
    try {
      send(exchange, code, status(code, reason, message));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void send(HttpExchange exchange, int status, ObjectNode body) throws IOException {
    var bytes = JSON.writeValueAsBytes(body);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    http.stop(0);
  }
}
