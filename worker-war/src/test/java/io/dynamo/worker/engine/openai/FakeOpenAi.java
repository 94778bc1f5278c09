package io.dynamo.worker.engine.openai;

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
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Answers as OpenAI's completions API describes, with a text that is a function of the prompt; and
 * fails as a test says. A text of more than {@link #PAUSE} tokens is not ended before its requester
 * leaves.
 */
final class FakeOpenAi implements AutoCloseable {
  /** How a streamed answer fails, after two tokens. */
  enum Fault {
    NONE,
    /** Sends nothing more. */
    HANG,
    /** Closes the connection. */
    CUT,
    /** Ends the answer as if it were complete. */
    SHORT,
    /** Says that it ended by an abort. */
    ABORT,
    /** Reports an error within the answer. */
    ERROR,
    /** Sends bytes that are no message. */
    GARBAGE,
    /** Never stops. */
    MORE,
    /** Refuses with 429. */
    BUSY,
    /** Refuses with 503. */
    UNAVAILABLE
  }

  static final int PAUSE = 100;
  private static final String CHUNK =
      "data:"
          + " {\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":\"%s\",\"logprobs\":null,\"finish_reason\":%s}]}\n\n";
  private static final String[] WORDS = {"the", "and", "is", "of"};

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch end = new CountDownLatch(1);
  private final BlockingQueue<JsonObject> heard = new LinkedBlockingQueue<>();
  volatile Fault fault = Fault.NONE;
  volatile int completions = 200;
  volatile String wantedKey = "";
  volatile boolean strict; // knows the options of OpenAI's API alone
  volatile String models =
      "{\"object\":\"list\",\"data\":[{\"id\":\"first\",\"object\":\"model\"},{\"id\":\"second\",\"max_model_len\":2048}]}";

  FakeOpenAi() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(
        "/v1/models",
        exchange -> {
          var key = exchange.getRequestHeaders().getFirst("Authorization");
          boolean known = wantedKey.isEmpty() || ("Bearer " + wantedKey).equals(key);
          answer(exchange, known ? 200 : 401, known ? models : "no");
        });
    server.createContext("/v1/completions", this::complete);
    server.start();
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** Returns the next request for a streamed answer. */
  JsonObject request() throws InterruptedException {
    return heard.take();
  }

  /** Returns the text of {@code count} tokens, each a word, that follow {@code prompt}. */
  static String text(String prompt, int count) {
    var text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      text.append(word(prompt, i));
    }
    return text.toString();
  }

  /** Each word depends on the length of all before it, so that a text can be continued. */
  private static String word(String prompt, int index) {
    int length = prompt.length();
    for (int i = 0; i < index; i++) {
      length += WORDS[length % WORDS.length].length();
    }
    return WORDS[length % WORDS.length];
  }

  private static void answer(HttpExchange exchange, int status, String body) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      var bytes = body.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  private void complete(HttpExchange exchange) throws IOException {
    var body = Json.readObject(exchange.getRequestBody().readAllBytes());
    if (strict && body.members().containsKey("ignore_eos")) {
      answer(exchange, 400, "{\"error\":{\"message\":\"Unrecognized request argument\"}}");
      return;
    }
    if (!Boolean.TRUE.equals(body.members().get("stream"))) {
      answer(exchange, completions, "{\"choices\":[{\"index\":0,\"text\":\"b\"}]}");
      return;
    }
    heard.add(body);
    if (fault == Fault.BUSY) {
      answer(exchange, 429, "{\"error\":{\"message\":\"slow down\"}}");
    } else if (fault == Fault.UNAVAILABLE) {
      answer(exchange, 503, "slow down, says a proxy");
    } else {
      stream(exchange, body);
    }
  }

  private void stream(HttpExchange exchange, JsonObject body) throws IOException {
    try (exchange) {
      exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
      exchange.sendResponseHeaders(200, 0);
      var out = exchange.getResponseBody();
      int most = body.count("max_tokens");
      var prompt = body.text("prompt");
      for (int i = 0; i < most; i++) {
        if (i == 2 && fault != Fault.NONE) {
          fail(out);
          return;
        }
        send(out, CHUNK.formatted(word(prompt, i), i + 1 == most ? "\"length\"" : "null"));
        if (i + 1 == PAUSE && most > PAUSE) {
          while (!end.await(2, TimeUnit.MILLISECONDS)) {
            send(out, ": still here\n\n");
          }
          return;
        }
      }
      send(
          out,
          "data:"
              + " {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1,\"prompt_tokens_details\":{\"cached_tokens\":2}}}\n\n"
              + "data: [DONE]\n\n");
      out.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void fail(OutputStream out) throws IOException, InterruptedException {
    switch (fault) {
      case HANG -> end.await();
      case SHORT -> out.close();
      case ABORT -> send(out, CHUNK.formatted("and", "\"abort\""));
      case ERROR -> send(out, "data: {\"error\":{\"message\":\"out of memory\",\"code\":500}}\n\n");
      case GARBAGE -> send(out, "<html>bad gateway</html>\n");
      case MORE -> {
        while (end.getCount() > 0) {
          send(out, CHUNK.formatted("and", "null"));
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
