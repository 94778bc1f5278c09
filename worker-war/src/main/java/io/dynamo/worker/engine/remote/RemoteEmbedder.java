package io.dynamo.worker.engine.remote;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.EmbeddingDescription;
import io.dynamo.worker.engine.EmbeddingEngine;
import io.dynamo.worker.engine.ServerMetrics;
import io.dynamo.worker.engine.TokenStream;
import io.dynamo.worker.engine.Vectors;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Embeds with a server in another process, by OpenAI's {@code /v1/embeddings}. Each request has a
 * virtual thread, which sends its prompts some at a time; closing the connection is what ends the
 * server's work early. Safe for concurrent use.
 */
public final class RemoteEmbedder implements EmbeddingEngine, ServerMetrics {
  private static final Duration PROBE = Duration.ofSeconds(60); // the first pass may compile
  private static final int MAX_PROMPTS = 64; // of one call, so that a cancel comes between calls

  /** Bytes of a number in an answer: base64, or at worst the digits of a double. */
  private static final int ANSWER_BYTES = 24;

  /**
   * The server and the limits of calls to it.
   *
   * @param server its address: scheme, host and port
   * @param setting the setting that has the address, for messages
   * @param key the server's bearer key; null for none
   * @param tls how to trust an {@code https} server; null trusts as the JVM does
   * @param startTimeout how long a start waits for the server to have loaded its model
   * @param silence how long one call may take
   * @param atOnce requests that call the server at once
   * @param maxRequests requests that run and wait; more are refused
   * @param unitLength whether vectors are scaled to length 1; if not, they are as the server gives
   *     them
   */
  public record Config(
      URI server,
      String setting,
      @Nullable String key,
      @Nullable SSLContext tls,
      Duration startTimeout,
      Duration silence,
      int atOnce,
      int maxRequests,
      boolean unitLength) {
    @Override
    public String toString() { // the key is not for logs
      return "RemoteEmbedder.Config[server=%s]".formatted(server);
    }
  }

  /** A started engine's server. */
  private record Serving(String model, EmbeddingDescription limits) {}

  private final Config config;
  private final EmbeddingDialect dialect;
  private final EngineHttp http;
  private final Semaphore calls;
  private final AtomicInteger live = new AtomicInteger();
  private final Set<RemoteEmbedding> running = ConcurrentHashMap.newKeySet(); // at most maxRequests
  private volatile @Nullable Serving serving; // set by start
  private volatile boolean closed;

  /**
   * @param loops owned by the caller, who closes them after this engine
   */
  public RemoteEmbedder(EventLoops loops, Config config, EmbeddingDialect dialect) {
    this.config = config;
    this.dialect = dialect;
    this.calls = new Semaphore(config.atOnce(), true);
    this.http =
        new EngineHttp(
            loops,
            dialect.engine(),
            config.server(),
            config.setting(),
            config.key(),
            config.tls(),
            EngineHttp.MAX_BODY);
  }

  @Override
  public EmbeddingDescription start() {
    if (serving != null || closed) {
      throw new IllegalStateException("an engine starts once");
    }
    try {
      var found = http.awaitReady(config.startTimeout(), this::probe);
      serving = found;
      return found.limits;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while " + config.server() + " starts", e);
    }
  }

  /** Asks for one embedding: it shows the length of the vectors, and that there are any. */
  private Serving probe() throws IOException, InterruptedException {
    var facts = dialect.ask(http);
    var prompts = List.of(new int[] {Math.min(1, facts.vocabulary() - 1)});
    var answer = http.post("/v1/embeddings", body(facts.model(), prompts, null), PROBE);
    if (answer.statusCode() != 200) {
      throw new IllegalArgumentException(
          "/v1/embeddings answers %d (%s); %s"
              .formatted(answer.statusCode(), EngineHttp.shown(answer.body()), dialect.advice()));
    }
    int width = EmbeddingsAnswer.of(answer.body(), 1).vectors().getFirst().length;
    return new Serving(facts.model(), facts.description(width));
  }

  private byte[] body(String model, List<int[]> prompts, @Nullable Integer dimensions) {
    var body =
        JsonObject.ordered(
            "model",
            model,
            "input",
            prompts.stream().map(dialect::input).toList(),
            "encoding_format",
            "base64");
    body.putAll(dialect.options(dimensions));
    return Json.write(body);
  }

  @Override
  public Flow.Publisher<EmbeddingOutput> embed(EmbeddingRequest request, RequestContext context) {
    var at = serving;
    if (at == null || closed) {
      throw closed
          ? TokenStream.shutDown()
          : new IllegalStateException("the engine was not started");
    }
    var prompts = at.limits.prompts(request);
    if (live.incrementAndGet() > config.maxRequests()) {
      live.decrementAndGet();
      throw new WorkerBusyException(
          "the worker runs and queues %d requests for embeddings, its limit; try another worker"
              .formatted(config.maxRequests()));
    }
    var embedding =
        new RemoteEmbedding(
            context, self -> computed(self, at, prompts, request.dimensions()), this::settled);
    running.add(embedding);
    embedding.start();
    if (closed) { // a close() in the meantime may not have seen it
      embedding.shutDown();
    }
    return embedding.stream();
  }

  private void settled(RemoteEmbedding embedding) {
    if (running.remove(embedding)) {
      live.decrementAndGet();
    }
  }

  private EmbeddingOutput computed(
      RemoteEmbedding by, Serving at, List<int[]> prompts, @Nullable Integer dimensions)
      throws InterruptedException {
    var vectors = new ArrayList<float[]>(prompts.size());
    int tokens = 0;
    int most = promptsPerCall(at.limits.width());
    for (int from = 0; from < prompts.size(); from += most) {
      var part = prompts.subList(from, Math.min(prompts.size(), from + most));
      var answer = call(by, at, part, dimensions);
      for (var vector : answer.vectors()) {
        vectors.add(finished(vector, at.limits.width(), dimensions));
      }
      tokens +=
          answer.promptTokens() > 0
              ? answer.promptTokens()
              : part.stream().mapToInt(prompt -> prompt.length).sum();
    }
    return new EmbeddingOutput(vectors, tokens);
  }

  /** Returns the prompts of one call, whose answer must fit into the bound of a body. */
  private static int promptsPerCall(int width) {
    return Math.clamp(EngineHttp.MAX_BODY / 2 / ((long) width * ANSWER_BYTES), 1, MAX_PROMPTS);
  }

  private float[] finished(float[] vector, int width, @Nullable Integer dimensions) {
    int expected = dimensions == null ? width : dimensions;
    if (vector.length != width && vector.length != expected) {
      throw broken("it gives %d numbers of %d".formatted(vector.length, expected), null);
    }
    return Vectors.finished(vector, dimensions, config.unitLength());
  }

  private EmbeddingsAnswer call(
      RemoteEmbedding by, Serving at, List<int[]> prompts, @Nullable Integer dimensions)
      throws InterruptedException {
    if (!calls.tryAcquire(by.remainingNanos(), TimeUnit.NANOSECONDS)) {
      throw by.late();
    }
    try {
      var timeout = Duration.ofNanos(Math.max(1, by.remainingNanos()));
      var limit = timeout.compareTo(config.silence()) < 0 ? timeout : config.silence();
      var answer = http.post("/v1/embeddings", body(at.model, prompts, dimensions), limit);
      if (answer.statusCode() != 200) {
        throw Refusal.of(dialect.engine(), answer.statusCode(), answer.body());
      }
      return EmbeddingsAnswer.of(answer.body(), prompts.size());
    } catch (ConnectException e) {
      throw by.remainingNanos() <= 0 ? by.late() : unreachable(e);
    } catch (SocketTimeoutException e) {
      throw by.remainingNanos() <= 0
          ? by.late()
          : broken("it has not answered within " + config.silence(), e);
    } catch (IOException e) {
      throw broken("the connection broke: " + e, e);
    } catch (IllegalArgumentException e) {
      throw broken("its answer is not understood: " + e.getMessage(), e);
    } finally {
      calls.release();
    }
  }

  private WorkerLostException unreachable(IOException cause) {
    return new WorkerLostException(
        ErrorCode.BACKEND_ENGINE_SHUTDOWN,
        dialect.engine() + " cannot be reached: " + cause,
        cause);
  }

  private WorkerLostException broken(String what, @Nullable Throwable cause) {
    return new WorkerLostException(
        ErrorCode.BACKEND_STREAM_INCOMPLETE, dialect.engine() + ": " + what, cause);
  }

  @Override
  public int running() {
    return live.get();
  }

  @Override
  public String serverMetrics() {
    return http.metrics("/metrics");
  }

  @Override
  public void close() {
    closed = true;
    for (var embedding : running) {
      embedding.shutDown();
    }
    http.close();
  }
}
