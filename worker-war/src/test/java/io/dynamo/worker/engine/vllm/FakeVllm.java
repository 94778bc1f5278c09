package io.dynamo.worker.engine.vllm;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.Recording;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Answers as vLLM does, from its recorded answers, with tokens that are a function of the prompt;
 * and fails as a test says. A text of more than {@link #PAUSE} tokens is not ended before its
 * requester leaves.
 */
final class FakeVllm implements AutoCloseable {
  /** How a streamed answer fails, after two tokens. */
  enum Fault {
    NONE,
    /** Sends nothing more. */
    HANG,
    /** Closes the connection. */
    CUT,
    /** Ends the answer as if it were complete. */
    SHORT,
    /** Sends bytes that are no message. */
    GARBAGE,
    /** Sends more tokens than were asked for. */
    MORE,
    /** Sends 4 MiB of comments, and goes on. */
    CHATTY,
    /** Refuses with 429. */
    BUSY,
    /** Refuses with 503. */
    UNAVAILABLE,
    /** Closes the connection before any answer. */
    GONE
  }

  static final int PAUSE = 100;
  private static final String CHUNK =
      "data:"
          + " {\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"created\":1,\"model\":\"tiny\",\"choices\":[{\"index\":0,\"text\":\"\",\"logprobs\":null,\"finish_reason\":%s,\"stop_reason\":null,\"token_ids\":[%d]}]}\n\n";

  private static final String TOKENS =
      "data:"
          + " {\"request_id\":\"generate-tokens-1\",\"usage\":null,\"output_mode\":\"tokens\",\"choices\":[{\"index\":0,\"finish_reason\":%s,\"stop_reason\":null,\"token_ids\":[%d],\"routed_experts\":null,\"sampling_mask\":null,\"weight_versions\":null,\"logprobs\":null}]}\n\n";

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch end = new CountDownLatch(1);
  private final BlockingQueue<HeardRequest> heard = new LinkedBlockingQueue<>();
  volatile Fault fault = Fault.NONE;
  volatile boolean priorities;
  volatile String models;
  volatile String metrics;
  volatile String sources = "{}";
  final Queue<String> resets = new ConcurrentLinkedQueue<>(); // answers to come
  final Map<String, String> adapters = new ConcurrentSkipListMap<>(); // folders by name
  final List<String> commands = new CopyOnWriteArrayList<>(); // that were followed
  volatile boolean updatesAdapters = true; // else it has no such routes
  volatile boolean tokenRoute;
  volatile UnaryOperator<String> tokenProbe = answer -> answer; // changes the answer to the probe
  volatile boolean sleeping;
  volatile String slept = ""; // the state that its metrics name, if any
  volatile @Nullable String sleepAnswer; // of /is_sleeping; null for the usual one
  final Set<String> brokenAdapters = ConcurrentHashMap.newKeySet(); // folders that do not load
  volatile boolean losesAnswer; // whether /sleep closes the connection in place of an answer
  volatile boolean hangs; // whether /sleep does not answer
  final CountDownLatch hanging = new CountDownLatch(1);
  volatile boolean canSleep = true; // else it has no such routes
  volatile boolean hasTemplate = true;
  volatile @Nullable String ids; // the answer to a text; null has no such route

  /**
   * A request for a streamed answer.
   *
   * @param path of the route
   * @param port of the requester, which tells its connections apart
   */
  record HeardRequest(
      String path, JsonObject body, List<String> key, List<String> rank, int port) {}

  FakeVllm() throws IOException {
    models = text(Recording.of("vllm-0.32.0/http/20-get-v1-models.txt").answer());
    metrics = text(Recording.file("vllm-0.32.0/metrics.txt"));
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/health", exchange -> answer(exchange, 200, ""));
    server.createContext("/v1/models", exchange -> answer(exchange, 200, withAdapters()));
    server.createContext("/v1/load_lora_adapter", this::load);
    server.createContext("/v1/unload_lora_adapter", this::unload);
    for (var path : List.of("/sleep", "/wake_up", "/collective_rpc")) {
      server.createContext(path, this::changeSleep);
    }
    server.createContext(
        "/is_sleeping",
        exchange ->
            answer(
                exchange,
                canSleep ? 200 : 404,
                Objects.requireNonNullElse(
                    sleepAnswer, "{\"is_sleeping\":%b}".formatted(sleeping))));
    server.createContext("/metrics", exchange -> answer(exchange, 200, withSleep()));
    server.createContext("/kv_event_sources", exchange -> answer(exchange, 200, sources));
    server.createContext("/v1/completions", this::complete);
    server.createContext("/inference/v1/generate", this::generate);
    server.createContext("/tokenize", this::tokenize);
    server.createContext("/reset_prefix_cache", exchange -> answer(exchange, 200, resets.remove()));
    server.start();
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** Returns the next request for a streamed answer. */
  HeardRequest request() throws InterruptedException {
    return heard.take();
  }

  /** Returns the token at {@code index} of the answer to {@code prompt}. */
  static int token(List<?> prompt, int index) {
    return 10 + Math.floorMod(prompt.hashCode() + index * 31, 1000);
  }

  private static void answer(HttpExchange exchange, int status, String body) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      var bytes = body.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  private String withAdapters() {
    var listed = new StringBuilder(models);
    adapters.forEach(
        (name, folder) ->
            listed.insert(
                listed.lastIndexOf("]"),
                ",{\"id\":\"%s\",\"root\":\"%s\",\"parent\":\"tiny\"}".formatted(name, folder)));
    return listed.toString();
  }

  private String withSleep() {
    return slept.isEmpty()
        ? metrics
        : metrics
            .replaceAll("(sleep_state=\"awake\"} )1.0", "$10.0")
            .replaceAll("(sleep_state=\"" + slept + "\"} )0.0", "$11.0");
  }

  private void load(HttpExchange exchange) throws IOException {
    var body = Json.readObject(exchange.getRequestBody().readAllBytes());
    var name = body.text("lora_name");
    if (brokenAdapters.contains(body.text("lora_path"))) {
      answer(exchange, 400, "{\"error\":{\"message\":\"no such adapter\"}}");
    } else if (adapters.putIfAbsent(name, body.text("lora_path")) == null) {
      commands.add("load " + name);
      answer(exchange, 200, "Success");
    } else {
      answer(exchange, 400, "{\"error\":{\"message\":\"has already been loaded\"}}");
    }
  }

  private void unload(HttpExchange exchange) throws IOException {
    if (!updatesAdapters) {
      answer(exchange, 404, "");
      return;
    }
    var name = Json.readObject(exchange.getRequestBody().readAllBytes()).text("lora_name");
    boolean known = adapters.remove(name) != null;
    commands.add("unload " + name);
    answer(exchange, known ? 200 : 404, "");
  }

  private void changeSleep(HttpExchange exchange) throws IOException {
    var command =
        exchange.getRequestURI().toString() + text(exchange.getRequestBody().readAllBytes());
    if (canSleep) {
      commands.add(command);
      if (command.startsWith("/sleep")) {
        if (hangs) {
          hanging.countDown();
          return;
        }
        sleeping = true;
        if (losesAnswer) {
          exchange.close();
          return;
        }
      } else if (!command.endsWith("tags=weights")) {
        sleeping = command.startsWith("/collective_rpc");
      }
    }
    answer(exchange, canSleep ? 200 : 404, "");
  }

  private void tokenize(HttpExchange exchange) throws IOException {
    var body = Json.readObject(exchange.getRequestBody().readAllBytes());
    if (body.members().get("messages") != null) {
      var recorded = Recording.of("vllm-0.32.0/http/15-tokenize.txt");
      answer(exchange, hasTemplate ? recorded.status() : 400, text(recorded.answer()));
    } else {
      var given = ids;
      answer(exchange, given == null ? 404 : 200, given == null ? "" : given);
    }
  }

  private void complete(HttpExchange exchange) throws IOException {
    var body = Json.readObject(exchange.getRequestBody().readAllBytes());
    if (sleeping) {
      answer(exchange, 500, "a request while it sleeps");
      return;
    }
    if (!Boolean.TRUE.equals(body.members().get("stream"))) {
      if (body.members().get("priority") != null && !priorities) {
        answer(exchange, 400, "{\"error\":{\"message\":\"no priority scheduling\",\"code\":400}}");
      } else {
        var recorded = Recording.of("vllm-0.32.0/http/12-kv-transfer-params.txt");
        answer(exchange, recorded.status(), text(recorded.answer()));
      }
      return;
    }
    answer(exchange, "/v1/completions", body);
  }

  private void generate(HttpExchange exchange) throws IOException {
    var body = Json.readObject(exchange.getRequestBody().readAllBytes());
    if (!tokenRoute) {
      answer(exchange, 403, "{\"detail\":\"start it with --enable-scale-out\"}");
    } else if (body.list("token_ids").equals(List.of(1))) { // asks whether it is there
      try (exchange) {
        var usual = TOKENS.formatted("\"length\"", 17) + "data: [DONE]\n\n";
        var changed = tokenProbe.apply(usual);
        exchange.sendResponseHeaders(200, 0);
        send(exchange.getResponseBody(), changed);
      }
    } else {
      answer(exchange, "/inference/v1/generate", body);
    }
  }

  private void answer(HttpExchange exchange, String path, JsonObject body) throws IOException {
    var headers = exchange.getRequestHeaders();
    heard.add(
        new HeardRequest(
            path,
            body,
            headers.getOrDefault("Authorization", List.of()),
            headers.getOrDefault("X-data-parallel-rank", List.of()),
            exchange.getRemoteAddress().getPort()));
    switch (fault) {
      case BUSY -> answer(exchange, 429, "");
      case UNAVAILABLE -> answer(exchange, 503, "{\"error\":\"no room\"}");
      case GONE -> exchange.close();
      default -> stream(exchange, body);
    }
  }

  private void stream(HttpExchange exchange, JsonObject body) throws IOException {
    try (exchange) {
      exchange.getResponseHeaders().add("Content-Type", "text/event-stream; charset=utf-8");
      exchange.sendResponseHeaders(200, 0);
      var out = exchange.getResponseBody();
      boolean tokensOnly = body.members().get("token_ids") != null;
      int most = (tokensOnly ? body.object("sampling_params") : body).count("max_tokens");
      var prompt = body.list(tokensOnly ? "token_ids" : "prompt");
      var chunk = tokensOnly ? TOKENS : CHUNK;
      for (int i = 0; i < most; i++) {
        if (i == 2 && fault == Fault.CHATTY) {
          send(out, (":" + "x".repeat(1022) + "\n").repeat(4096));
        } else if (i == 2 && fault != Fault.NONE) {
          fail(out, most);
          return;
        }
        send(out, chunk.formatted(i + 1 == most ? "\"length\"" : "null", token(prompt, i)));
        if (i + 1 == PAUSE && most > PAUSE) {
          while (!end.await(2, java.util.concurrent.TimeUnit.MILLISECONDS)) {
            send(out, ": still here\n\n");
          }
          return;
        }
      }
      send(
          out,
          "data: {\"id\":\"cmpl-1\",\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d,\"prompt_tokens_details\":{\"cached_tokens\":2}}}\n\ndata: [DONE]\n\n"
              .formatted(prompt.size(), most));
      out.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void fail(OutputStream out, int most) throws IOException, InterruptedException {
    switch (fault) {
      case HANG -> end.await();
      case SHORT -> out.close();
      case GARBAGE -> send(out, "<html>bad gateway</html>\n");
      case MORE -> {
        for (int i = 0; i < most; i++) {
          send(out, CHUNK.formatted("null", 10));
        }
      }
      default -> {} // the connection is closed without the end of the answer
    }
  }

  private static void send(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  @Override
  public void close() {
    end.countDown();
    server.stop(0);
    threads.shutdownNow();
  }
}
