package io.dynamo.worker.engine.remote;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.wire.generate.EmbeddingCodec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Answers as OpenAI's embeddings API describes, with vectors that are a function of the input; and
 * fails as a test says. Calls with many long inputs are not answered before their requester leaves.
 */
public final class FakeEmbeddings implements AutoCloseable {
  public static final int WIDTH = 16;
  public static final int CONTEXT = 300;
  private static final int MANY = 33;
  private static final int LONG = 100;

  /** How an answer fails. */
  public enum Fault {
    NONE,
    /** Never answers. */
    HANG,
    /** Closes the connection within the answer. */
    CUT,
    /** Answers with what is no JSON. */
    GARBAGE,
    /** Leaves the last vector out. */
    FEWER,
    /** Gives one vector twice. */
    TWICE,
    /** Gives vectors of different lengths. */
    UNEVEN,
    /** Gives a number that is not finite. */
    NOT_FINITE,
    /** Refuses with 400. */
    REFUSE,
    /** Refuses with 429. */
    BUSY,
    /** Fails with 500. */
    FAIL
  }

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch end = new CountDownLatch(1);
  private final BlockingQueue<JsonObject> heard = new LinkedBlockingQueue<>();
  private volatile Fault fault = Fault.NONE;
  private volatile boolean plain; // answers in numbers, whatever was asked for

  public FakeEmbeddings() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/health", exchange -> answer(exchange, 200, "{}"));
    server.createContext(
        "/v1/models",
        exchange ->
            answer(
                exchange,
                200,
                "{\"data\":[{\"id\":\"embedder\",\"max_model_len\":%d}]}".formatted(CONTEXT)));
    server.createContext("/v1/embeddings", this::embed);
    server.start();
  }

  public URI address() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  public void fail(Fault by) {
    fault = by;
  }

  public void answerInNumbers() {
    plain = true;
  }

  /** Returns the next request; the first is the probe of the start. */
  public JsonObject heard() throws InterruptedException {
    return heard.take();
  }

  private void embed(HttpExchange exchange) throws IOException {
    var request = Json.readObject(exchange.getRequestBody().readAllBytes());
    heard.add(request);
    var inputs = request.list("input");
    try {
      if (fault == Fault.HANG || isLarge(inputs)) {
        end.await();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    switch (fault) {
      case CUT -> {
        exchange.sendResponseHeaders(200, 1000);
        exchange.getResponseBody().write("{\"data\":[".getBytes(StandardCharsets.UTF_8));
        exchange.close();
      }
      case GARBAGE -> answer(exchange, 200, "<html>");
      case REFUSE -> answer(exchange, 400, "{\"error\":{\"message\":\"no dimensions here\"}}");
      case BUSY -> answer(exchange, 429, "{}");
      case FAIL -> answer(exchange, 500, "{\"error\":{\"message\":\"out of luck\"}}");
      case NONE, HANG, FEWER, TWICE, UNEVEN, NOT_FINITE ->
          answer(exchange, 200, answerTo(request, inputs));
    }
  }

  private static boolean isLarge(List<?> inputs) {
    return inputs.size() >= MANY
        && inputs.getFirst() instanceof List<?> tokens
        && tokens.size() >= LONG;
  }

  private String answerTo(JsonObject request, List<?> inputs) {
    var data = new ArrayList<Map<String, ?>>();
    var dimensions = request.optionalCount("dimensions");
    int tokens = 0;
    for (int i = inputs.size() - 1; i >= 0; i--) { // the order is the index's, not the list's
      var vector = vector(String.valueOf(inputs.get(i)), dimensions == null ? WIDTH : dimensions);
      if (fault == Fault.UNEVEN && i == 0) {
        vector = Arrays.copyOf(vector, 3);
      }
      if (fault == Fault.NOT_FINITE) {
        vector[1] = Float.POSITIVE_INFINITY;
      }
      if (fault != Fault.FEWER || i > 0) {
        data.add(
            Map.of(
                "index",
                fault == Fault.TWICE ? 0 : i,
                "embedding",
                plain ? numbers(vector) : EmbeddingCodec.base64(vector)));
      }
      tokens += inputs.get(i) instanceof List<?> ids ? ids.size() : 1;
    }
    return new String(
        Json.write(
            Map.of("object", "list", "data", data, "usage", Map.of("prompt_tokens", tokens))),
        StandardCharsets.UTF_8);
  }

  /** Returns the vector of an input, cut as a model does that was trained for it. */
  private static float[] vector(String input, int dimensions) {
    var random = new Random(input.hashCode());
    var vector = new float[WIDTH];
    double squares = 0;
    for (int i = 0; i < WIDTH; i++) {
      vector[i] = (float) random.nextGaussian();
      squares += i < dimensions ? vector[i] * vector[i] : 0;
    }
    var cut = Arrays.copyOf(vector, dimensions);
    for (int i = 0; i < dimensions; i++) {
      cut[i] /= (float) Math.sqrt(squares);
    }
    return cut;
  }

  private static List<Float> numbers(float[] vector) {
    var numbers = new ArrayList<Float>();
    for (float number : vector) {
      numbers.add(number);
    }
    return numbers;
  }

  private static void answer(HttpExchange exchange, int status, String body) throws IOException {
    var bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    end.countDown();
    server.stop(0);
    threads.shutdownNow();
  }
}
