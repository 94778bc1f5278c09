package io.dynamo.worker.engine.remote;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.LoopThread;
import io.dynamo.pipeline.http.ClientRequest;
import io.dynamo.pipeline.http.HttpClient;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP client for one engine server, on the shared event loops. Safe for concurrent use.
 * Answers are bounded, and each wait has a limit; what waits must not be called on an event loop.
 */
public final class EngineHttp implements AutoCloseable {
  /** The most bytes of an answer that is not streamed. */
  public static final int MAX_BODY = 8 << 20;

  private static final System.Logger LOG = System.getLogger(EngineHttp.class.getName());
  private static final byte[] NONE = {};
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration ANSWER = Duration.ofSeconds(10); // of trivial requests
  private static final Duration SCRAPE = Duration.ofSeconds(2); // of metrics
  private static final Duration BETWEEN_TRIES = Duration.ofMillis(100);

  private final EventLoops loops;
  private final String engine;
  private final URI base;
  private final String setting;
  private final @Nullable String key;
  private final int maxBody;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final HttpClient client;

  /** Asks a server for its limits. Called until it neither fails with an IOException nor waits. */
  public interface Facts<T> {
    /**
     * @throws IOException when the server is not ready yet
     * @throws IllegalArgumentException when the server is not of this kind, or cannot be used
     */
    T ask() throws IOException, InterruptedException;
  }

  /** Thrown when the server's answer lacks the expected content: it may still be loading. */
  public static final class NotReadyException extends IOException {
    private static final long serialVersionUID = 1L;

    public NotReadyException(String what) {
      super(what);
    }
  }

  /**
   * @param loops owned by the caller, who closes them after this client
   * @param engine the kind of engine, for messages
   * @param base scheme, host and port of the server
   * @param setting the setting that has the address, for messages
   * @param key the bearer key of the server; null sends none
   * @param tls how to trust an {@code https} server; null trusts as the JVM does
   * @param maxBody limit of an answer that is not streamed, in bytes
   */
  public EngineHttp(
      EventLoops loops,
      String engine,
      URI base,
      String setting,
      @Nullable String key,
      @Nullable SSLContext tls,
      int maxBody) {
    this.loops = loops;
    this.engine = engine;
    this.base = base;
    this.setting = setting;
    this.key = key;
    this.maxBody = maxBody;
    this.client = new HttpClient(loops, base, tls, CONNECT);
  }

  public URI base() {
    return base;
  }

  /**
   * Waits until the server is ready, by polling, since servers send no notification.
   *
   * @throws IllegalStateException when the server is not ready within {@code timeout}, or is not of
   *     the expected kind, or after {@link #close}
   */
  public <T> T awaitReady(Duration timeout, Facts<T> facts) throws InterruptedException {
    long begun = System.nanoTime();
    while (true) {
      String why;
      try {
        return facts.ask();
      } catch (NotReadyException e) {
        why = String.valueOf(e.getMessage());
      } catch (IOException e) {
        why = e.toString();
      } catch (IllegalArgumentException e) {
        throw new IllegalStateException(
            "%s is no %s server as this engine knows it: %s"
                .formatted(base, engine, e.getMessage()),
            e);
      }
      if (System.nanoTime() - begun >= timeout.toNanos()) {
        throw new IllegalStateException(
            "the %s server at %s was not ready within %s (%s); start it, or set %s"
                .formatted(engine, base, timeout, why, setting));
      }
      if (closed.await(BETWEEN_TRIES.toNanos(), TimeUnit.NANOSECONDS)) {
        throw new IllegalStateException("nobody waits for " + base + " any more");
      }
    }
  }

  /**
   * Sends a GET request.
   *
   * @throws NotReadyException when the answer is not 200
   */
  public void requireOk(String path) throws IOException, InterruptedException {
    var answer = get(path);
    if (answer.statusCode() != 200) {
      throw new NotReadyException("it answers " + answer.statusCode());
    }
  }

  /**
   * Sends a GET request and returns the object that it answers.
   *
   * @throws IllegalArgumentException when the answer is not 200, or no object
   */
  public JsonObject object(String path) throws IOException, InterruptedException {
    var answer = get(path);
    if (answer.statusCode() != 200) {
      throw new IllegalArgumentException(path + " answers " + answer.statusCode());
    }
    try {
      return Json.readObject(answer.body());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("the answer of " + path + " " + e.getMessage(), e);
    }
  }

  /** Sends a GET request for figures that are of no use when they are late. */
  public EngineAnswer scrape(String path) throws IOException, InterruptedException {
    return get(path, SCRAPE);
  }

  public EngineAnswer get(String path) throws IOException, InterruptedException {
    return get(path, ANSWER);
  }

  /** Sends a GET request and waits for the whole answer. */
  EngineAnswer get(String path, Duration timeout) throws IOException, InterruptedException {
    return send(request("GET", path, NONE, Map.of(), true), timeout);
  }

  /**
   * Sends a POST request with a JSON body and waits for the whole answer. The server may get it
   * twice, when it closes a connection that was idle.
   */
  public EngineAnswer post(String path, byte[] body, Duration timeout)
      throws IOException, InterruptedException {
    return send(request("POST", path, body, Map.of(), true), timeout);
  }

  /** Sends a POST request that the server must not get twice, and waits for the whole answer. */
  public EngineAnswer postOnce(String path, byte[] body, Duration timeout)
      throws IOException, InterruptedException {
    return send(request("POST", path, body, Map.of(), false), timeout);
  }

  /**
   * Returns the server's metrics as Prometheus' text; empty when it does not give them soon.
   *
   * @param path where the server has them
   */
  public String metrics(String path) {
    try {
      var answer = scrape(path);
      return answer.statusCode() == 200 ? new String(answer.body(), StandardCharsets.UTF_8) : "";
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "the metrics of {0} cannot be read: {1}", base, e);
      return "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }

  private EngineAnswer send(ClientRequest request, Duration timeout)
      throws IOException, InterruptedException {
    var answer = new WholeAnswer(maxBody);
    var sent = client.send(request, Integer.MAX_VALUE, answer);
    try {
      return answer.await(timeout);
    } finally {
      sent.cancel(); // of no effect when it has been answered
    }
  }

  private ClientRequest request(
      String method, String path, byte[] body, Map<String, String> headers, boolean repeatable) {
    var all = new HashMap<>(headers);
    all.put("Content-Type", "application/json");
    if (key != null) {
      all.put("Authorization", "Bearer " + key);
    }
    return new ClientRequest(method, client.target(path), all, body, repeatable);
  }

  /**
   * Sends a POST request whose answer is read line by line. Does not wait.
   *
   * @param onNews called when the exchange has new data: on the event loop that sends, which is the
   *     caller's where the caller runs on one
   */
  public LineExchange stream(
      String path, byte[] body, Map<String, String> headers, Runnable onNews) {
    var exchange = new LineExchange(onNews);
    exchange.begin(
        client.send(request("POST", path, body, headers, false), LineExchange.WINDOW, exchange));
    return exchange;
  }

  /** Sends a POST request whose answer means nothing. Does not wait. */
  public void sendAndForget(String path, byte[] body) {
    var forgotten = new ForgottenAnswer(base.resolve(path));
    forgotten.begin(
        client.send(request("POST", path, body, Map.of(), true), Integer.MAX_VALUE, forgotten),
        thread(),
        ANSWER);
  }

  /** Returns the thread on which the caller's next streams are received. */
  LoopThread thread() {
    return LoopThread.near(loops);
  }

  /** Returns the text of an answer, cut to the length of a message. */
  public static String shown(byte[] body) {
    int length = Math.min(body.length, 300);
    return new String(body, 0, length, StandardCharsets.UTF_8);
  }

  /** Closes all exchanges. Idempotent; must not be called on an event loop. */
  @Override
  public void close() {
    closed.countDown();
    client.close();
  }
}
