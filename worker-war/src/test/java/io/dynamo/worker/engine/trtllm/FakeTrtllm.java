package io.dynamo.worker.engine.trtllm;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Answers as {@code trtllm-serve} is specified to, with tokens that are a function of the prompt,
 * refuses members that it does not know, and fails as a test says. A text of more than {@link
 * #PAUSE} tokens is not ended before its requester leaves.
 */
final class FakeTrtllm implements AutoCloseable {
  /** How a streamed answer fails, after two tokens. */
  enum Fault {
    NONE,
    /** Closes the connection. */
    CUT,
    /** Sends bytes that are no message. */
    GARBAGE,
    /** Ends the text because of a limit of time. */
    TIMEOUT,
    /** Sends an error in the stream. */
    ERROR,
    /** Refuses with 503. */
    UNAVAILABLE
  }

  static final int PAUSE = 100;
  static final int BLOCK = 4;
  private static final Set<String> MEMBERS =
      Set.of(
          "model",
          "prompt",
          "add_special_tokens",
          "max_tokens",
          "detokenize",
          "skip_special_tokens",
          "stream",
          "stream_options",
          "temperature",
          "top_p",
          "top_k",
          "min_p",
          "frequency_penalty",
          "presence_penalty",
          "repetition_penalty",
          "seed",
          "logit_bias",
          "stop_token_ids",
          "ignore_eos",
          "min_tokens",
          "thinking_token_budget",
          "logprobs",
          "response_format",
          "disaggregated_params");
  private static final String CHUNK =
      "data: {\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"created\":1,\"model\":\"tiny\","
          + "\"choices\":[{\"index\":0,\"text\":\"\",\"token_ids\":[%d],\"logprobs\":%s,"
          + "\"finish_reason\":%s,\"stop_reason\":null}],\"usage\":null}\n\n";

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch end = new CountDownLatch(1);
  private final BlockingQueue<JsonObject> heard = new LinkedBlockingQueue<>();
  private final List<String> events = new ArrayList<>(); // guarded by itself
  volatile Fault fault = Fault.NONE;
  volatile boolean publishes = true;
  volatile int eventStatus = 200;
  volatile String statistics =
      "[{\"iter\":1},{\"iter\":2,\"maxNumActiveRequests\":6,\"kvCacheStats\":{\"maxNumBlocks\":500,"
          + "\"tokensPerBlock\":4,\"usedNumBlocks\":0}}]";

  FakeTrtllm() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/health", exchange -> answer(exchange, 200, ""));
    server.createContext(
        "/v1/models",
        exchange ->
            answer(
                exchange,
                200,
                "{\"object\":\"list\",\"data\":[{\"id\":\"tiny\",\"object\":\"model\","
                    + "\"created\":1,\"owned_by\":\"tensorrt_llm\"}]}"));
    server.createContext("/metrics", exchange -> answer(exchange, 200, statistics));
    server.createContext(
        "/prometheus/metrics",
        exchange -> answer(exchange, 200, "trtllm_request_success_total 3\n"));
    server.createContext("/kv_cache_events", this::drain);
    server.createContext("/v1/completions", this::complete);
    server.start();
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** Returns the next request for an answer, other than that of the start. */
  JsonObject request() throws InterruptedException {
    return heard.take();
  }

  /** Buffers an event. */
  void publish(String event) {
    synchronized (events) {
      events.add(event);
    }
  }

  /** Returns the event that stores blocks of {@link #BLOCK} tokens each. */
  static String stored(long id, String parent, long... blocks) {
    var each = new ArrayList<String>();
    for (long block : blocks) {
      each.add(block(block, BLOCK, 0, 0));
    }
    return event(
        id,
        "{\"type\":\"stored\",\"parent_hash\":%s,\"blocks\":[%s]}"
            .formatted(parent, String.join(",", each)));
  }

  static String block(long hash, int tokens, int level, int extra) {
    var each = new ArrayList<String>();
    for (int i = 0; i < tokens; i++) {
      each.add(
          "{\"type\":\"unique_token\",\"token_id\":%d,\"token_extra_id\":%d}"
              .formatted(hash + i, extra));
    }
    return "{\"type\":\"stored_block\",\"block_hash\":%d,\"tokens\":[%s],\"cache_level\":%d,\"priority\":35}"
        .formatted(hash, String.join(",", each), level);
  }

  static String event(long id, String data) {
    return "{\"event_id\":%d,\"data\":%s,\"window_size\":4096}".formatted(id, data);
  }

  /** Returns the token at {@code index} of the answer to {@code prompt}. */
  static int token(List<?> prompt, int index) {
    return 10 + Math.floorMod(prompt.hashCode() + index * 31, 1000);
  }

  private void drain(HttpExchange exchange) throws IOException {
    if (!exchange.getRequestMethod().equals("POST")) {
      answer(exchange, 405, "");
      return;
    }
    String body;
    int status = eventStatus;
    synchronized (events) {
      body = "[" + String.join(",", events) + "]";
      if (status == 200) {
        events.clear();
      }
    }
    answer(exchange, status, status == 200 ? body : "");
  }

  private static void answer(HttpExchange exchange, int status, String body) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      var bytes = body.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  private void complete(HttpExchange exchange) throws IOException {
    var body = Json.readObject(exchange.getRequestBody().readAllBytes());
    var unknown = body.members().keySet().stream().filter(name -> !MEMBERS.contains(name)).toList();
    if (!unknown.isEmpty() || !Boolean.FALSE.equals(body.members().get("detokenize"))) {
      answer(
          exchange,
          400,
          "{\"object\":\"error\",\"message\":\"extra inputs %s\",\"type\":\"BadRequestError\",\"code\":400}"
              .formatted(unknown));
      return;
    }
    if (Boolean.TRUE.equals(body.members().get("stream"))) {
      heard.add(body);
      if (fault == Fault.UNAVAILABLE) {
        answer(exchange, 503, "");
      } else {
        stream(exchange, body);
      }
      return;
    }
    var handed = body.optionalObject("disaggregated_params");
    if (handed == null) { // the start's
      if (publishes) {
        publish(stored(7, "null", 900));
      }
    } else {
      heard.add(body);
    }
    answer(
        exchange,
        200,
        "{\"id\":\"cmpl-2\",\"choices\":[{\"index\":0,\"text\":\"\",\"token_ids\":[11],\"finish_reason\":\"%s\",\"disaggregated_params\":%s}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1,\"total_tokens\":4}}"
            .formatted(
                handed == null ? "length" : "not_finished",
                handed == null
                    ? "null"
                    : "{\"request_type\":\"context_only\",\"ctx_request_id\":5,\"first_gen_tokens\":[11],\"encoded_opaque_state\":\"b64\"}"));
  }

  private void stream(HttpExchange exchange, JsonObject body) throws IOException {
    try (exchange) {
      exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
      exchange.sendResponseHeaders(200, 0);
      var out = exchange.getResponseBody();
      int most = body.count("max_tokens");
      var prompt = body.list("prompt");
      var rated =
          body.members().get("logprobs") == null
              ? "null"
              : "{\"text_offset\":[0],\"token_logprobs\":[-0.5],\"tokens\":[\"x\"],\"top_logprobs\":[{\"x\":-0.5}]}";
      for (int i = 0; i < most; i++) {
        if (i == 2 && fault != Fault.NONE) {
          fail(out);
          return;
        }
        send(out, CHUNK.formatted(token(prompt, i), rated, i + 1 == most ? "\"length\"" : "null"));
        if (i + 1 == PAUSE && most > PAUSE) {
          while (!end.await(2, TimeUnit.MILLISECONDS)) {
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

  private void fail(OutputStream out) throws IOException {
    switch (fault) {
      case GARBAGE -> send(out, "<html>bad gateway</html>\n");
      case TIMEOUT -> send(out, CHUNK.formatted(10, "null", "\"timeout\""));
      case ERROR ->
          send(
              out,
              "data: {\"object\":\"error\",\"message\":\"out of"
                  + " memory\",\"type\":\"InternalServerError\",\"param\":null,\"code\":500}\n\n");
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
