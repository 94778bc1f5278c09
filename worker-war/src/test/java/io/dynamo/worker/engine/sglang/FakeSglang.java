package io.dynamo.worker.engine.sglang;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Answers as SGLang does, from its recorded answers, with tokens that are a function of the prompt;
 * and fails as a test says. A text of more than {@link #PAUSE} tokens is not ended before its
 * requester leaves.
 */
final class FakeSglang implements AutoCloseable {
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
    /** Sends fewer tokens than before. */
    FEWER,
    /** Sends more tokens than were asked for. */
    MORE,
    /** Aborts the generation, as a server that shuts down. */
    ABORT,
    /** Aborts the generation, since its queue is full. */
    ABORT_BUSY,
    /** Reports a fault of the request before the first token. */
    REFUSE,
    /** Refuses with 503. */
    UNAVAILABLE
  }

  static final int PAUSE = 100;

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch end = new CountDownLatch(1);
  private final BlockingQueue<JsonObject> heard = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> aborted = new LinkedBlockingQueue<>();
  volatile Fault fault = Fault.NONE;
  final List<String> commands = new CopyOnWriteArrayList<>(); // about its memory
  volatile @Nullable String ids; // the answer to a text; null has no such route
  volatile boolean incremental;
  final AtomicInteger flushes = new AtomicInteger(); // requests for one
  volatile int flushed = 200; // 0 does not answer
  final Queue<Integer> updates = new ConcurrentLinkedQueue<>(); // statuses to come, then 200
  volatile String lostAnswer = ""; // the path whose next answer is lost
  volatile boolean resident = true; // whether it has its memory
  volatile boolean crashed;
  volatile String loads = text(Recording.of("sglang-0.5.23/http/20-get-v1-loads.txt").answer());
  volatile int loadsStatus = 200;
  volatile String info = text(Recording.file("sglang-0.5.23/server_info-excerpt.json"));

  FakeSglang() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/health", exchange -> answer(exchange, 200, ""));
    server.createContext(
        "/v1/models",
        exchange ->
            answer(
                exchange,
                200,
                text(Recording.of("sglang-0.5.23/http/20-get-v1-models.txt").answer())));
    server.createContext("/server_info", exchange -> answer(exchange, 200, info));
    server.createContext(
        "/v1/tokenize",
        exchange -> answer(exchange, ids == null ? 404 : 200, ids == null ? "" : ids));
    server.createContext("/flush_cache", this::flush);
    for (var path :
        List.of(
            "/release_memory_occupation",
            "/resume_memory_occupation",
            "/update_weights_from_disk")) {
      server.createContext(path, this::changeMemory);
    }
    server.createContext(
        "/model_info",
        exchange ->
            answer(
                exchange,
                200,
                text(Recording.of("sglang-0.5.23/http/20-get-model_info.txt").answer())));
    server.createContext("/v1/loads", exchange -> answer(exchange, loadsStatus, loads));
    server.createContext("/abort_request", this::abort);
    server.createContext("/generate", this::generate);
    server.start();
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** Returns the next request for a streamed answer. */
  JsonObject request() throws InterruptedException {
    return heard.take();
  }

  /** Returns the id of the next generation that is aborted by a call. */
  String aborted() throws InterruptedException {
    var id = aborted.poll(10, TimeUnit.SECONDS);
    if (id == null) {
      throw new AssertionError("nothing was aborted within 10 s");
    }
    return id;
  }

  boolean hasAborted() {
    return !aborted.isEmpty();
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

  private void changeMemory(HttpExchange exchange) throws IOException {
    var path = exchange.getRequestURI().toString();
    commands.add(path + text(exchange.getRequestBody().readAllBytes()));
    var status = path.startsWith("/update") ? updates.poll() : null;
    if (!path.startsWith("/update")) {
      boolean resumes = path.startsWith("/resume");
      crashed |= resident == resumes;
      resident = resumes;
    }
    if (path.equals(lostAnswer)) {
      lostAnswer = "";
      exchange.close();
    } else {
      answer(exchange, crashed ? 500 : status == null ? 200 : status, "{}");
    }
  }

  private void flush(HttpExchange exchange) throws IOException {
    flushes.incrementAndGet();
    if (flushed != 0) {
      answer(exchange, flushed, "flushed or not");
    }
  }

  private void abort(HttpExchange exchange) throws IOException {
    aborted.add(Json.readObject(exchange.getRequestBody().readAllBytes()).text("rid"));
    answer(exchange, 200, "");
  }

  private void generate(HttpExchange exchange) throws IOException {
    var body = Json.readObject(exchange.getRequestBody().readAllBytes());
    if (!Boolean.TRUE.equals(body.members().get("stream"))) {
      answer(
          exchange,
          200,
          "{\"text\":\"a\",\"output_ids\":[17],\"meta_info\":{\"finish_reason\":{\"type\":\"length\",\"length\":1},\"completion_tokens\":1}}");
      return;
    }
    heard.add(body);
    if (fault == Fault.UNAVAILABLE) {
      answer(exchange, 503, "{\"error\":{\"message\":\"The request queue is full.\"}}");
    } else {
      stream(exchange, body);
    }
  }

  private void stream(HttpExchange exchange, JsonObject body) throws IOException {
    try (exchange) {
      exchange.getResponseHeaders().add("Content-Type", "text/event-stream; charset=utf-8");
      exchange.sendResponseHeaders(200, 0);
      var out = exchange.getResponseBody();
      if (fault == Fault.REFUSE) {
        send(out, "data: {\"error\":{\"message\":\"no such adapter\"}}\n\n");
        return;
      }
      int most = body.object("sampling_params").count("max_new_tokens");
      var prompt = body.list("input_ids");
      var made = new ArrayList<Integer>();
      for (int i = 0; i < most; i++) {
        if (i == 2 && fault != Fault.NONE) {
          fail(out, made, most);
          return;
        }
        made.add(token(prompt, i));
        send(out, message(made, i + 1 == most ? "{\"type\":\"length\",\"length\":1}" : "null"));
        if (i + 1 == PAUSE && most > PAUSE) {
          while (!end.await(2, TimeUnit.MILLISECONDS)) {
            send(out, ": still here\n\n");
          }
          return;
        }
      }
      send(out, "data: [DONE]\n\n");
      out.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private String message(List<Integer> made, String finish) {
    return "data: {\"text\":\"\",\"output_ids\":%s,\"meta_info\":{\"id\":\"r\",\"finish_reason\":%s,\"prompt_tokens\":3,\"completion_tokens\":%d,\"cached_tokens\":2,\"dp_rank\":null}}\n\n"
        .formatted(incremental ? List.of(made.getLast()) : made, finish, made.size());
  }

  private void fail(OutputStream out, List<Integer> made, int most)
      throws IOException, InterruptedException {
    switch (fault) {
      case HANG -> end.await();
      case SHORT -> out.close();
      case GARBAGE -> send(out, "<html>bad gateway</html>\n");
      case FEWER -> send(out, message(made.subList(0, 1), "null"));
      case MORE -> {
        for (int i = 0; i < most; i++) {
          made.add(10);
          send(out, message(made, "null"));
        }
      }
      case ABORT -> send(out, message(made, "{\"type\":\"abort\",\"message\":\"Aborted\"}"));
      case ABORT_BUSY ->
          send(
              out,
              message(made, "{\"type\":\"abort\",\"message\":\"queue full\",\"status_code\":503}"));
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
