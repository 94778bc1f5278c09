package io.dynamo.frontend.warmup;

import io.dynamo.concurrent.Deadline;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Sends synthetic requests to the server's own HTTP port until enough are answered or their time is
 * over. The server is not ready meanwhile. What goes wrong is one warning and ends the warm-up: a
 * server that is slow at first is better than none. Safe for concurrent use.
 */
public final class WarmUp {
  private static final System.Logger LOG = System.getLogger(WarmUp.class.getName());
  private static final Duration PORT_LIMIT = Duration.ofSeconds(20);
  private static final long RETRY_MILLIS = 50;
  private static final int CLIENTS = 16;
  private static final int REQUESTS = 800;
  private static final int TOKENS = 48; // of each answer
  private static final int SHAPES = 8; // of requests, of which most are streamed chats

  /** A service that answers the requests while a warm-up runs. */
  public interface Stage extends AutoCloseable {
    /** Returns the header line by which the server knows requests of this warm-up. */
    String header();

    @Override
    void close();
  }

  /** Sets the stage for one warm-up. */
  @FunctionalInterface
  public interface Setting {
    /**
     * Opens the service that answers the requests.
     *
     * @throws RuntimeException when that is not possible on this machine
     */
    Stage open();
  }

  private final Duration limit;
  private final InetSocketAddress port;
  private final Setting setting;
  private final List<FutureTask<?>> tasks = new ArrayList<>(); // guarded by this
  private boolean stopped; // guarded by this
  private volatile boolean over;

  /**
   * @param limit time for the requests; zero sends none
   * @param port where the server listens to clear text
   */
  public WarmUp(Duration limit, InetSocketAddress port, Setting setting) {
    this.limit = limit;
    this.port = port;
    this.setting = setting;
    this.over = limit.isZero();
  }

  /** Whether it has ended, or there is none. */
  public boolean isOver() {
    return over;
  }

  /** Starts it on {@code threads}, which runs each task on a thread of its own. */
  public void start(Executor threads) {
    if (!over) {
      threads.execute(() -> run(threads));
    }
  }

  private void run(Executor threads) {
    long begun = System.nanoTime();
    var answered = new AtomicInteger();
    try (var stage = setting.open()) {
      try {
        awaitPort(stage);
        play(threads, stage, answered);
        LOG.log(
            Level.INFO,
            "warmed up by {0} requests in {1} ms",
            answered.get(),
            TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
      } finally {
        over = true; // to close the stage takes longer
      }
    } catch (InterruptedException | CancellationException _) {
      LOG.log(Level.INFO, "the warm-up was stopped after {0} requests", answered.get());
    } catch (IOException | RuntimeException e) {
      LOG.log(
          Level.WARNING,
          "the warm-up ended after {0} requests, so that the first of clients are slow: {1}",
          answered.get(),
          e);
    } finally {
      over = true;
    }
  }

  /** Waits until the port is open and the application behind it answers. */
  private void awaitPort(Stage stage) throws IOException, InterruptedException {
    var deadline = Deadline.after(PORT_LIMIT);
    while (true) {
      String last;
      try (var client = new WarmUpClient(port, deadline)) {
        int status = client.post(path(1), stage.header(), body(1), deadline);
        if (status == 200) {
          return;
        }
        last = "it answers " + status;
      } catch (IOException e) {
        last = e.toString();
      }
      if (isStopped()) {
        throw new CancellationException();
      }
      if (deadline.isExpired()) {
        throw new IOException(
            "%s does not serve after %d s: %s".formatted(port, PORT_LIMIT.toSeconds(), last));
      }
      Thread.sleep(RETRY_MILLIS);
    }
  }

  private void play(Executor threads, Stage stage, AtomicInteger answered)
      throws IOException, InterruptedException {
    var deadline = Deadline.after(limit);
    var turns = new AtomicInteger();
    var clients = new ArrayList<FutureTask<?>>();
    for (int i = 0; i < CLIENTS; i++) {
      var client = new FutureTask<>(() -> ask(stage, turns, answered, deadline), null);
      clients.add(client);
      if (!admit(client)) {
        throw new CancellationException();
      }
      threads.execute(client);
    }
    try {
      for (var client : clients) {
        client.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
      }
    } catch (TimeoutException _) {
      // as many as there was time for
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } finally {
      clients.forEach(client -> client.cancel(true));
    }
  }

  /** Asks until all requests are taken or the time is over. */
  private void ask(Stage stage, AtomicInteger turns, AtomicInteger answered, Deadline deadline) {
    try (var client = new WarmUpClient(port, deadline)) {
      for (int turn = turns.getAndIncrement();
          turn < REQUESTS && !deadline.isExpired();
          turn = turns.getAndIncrement()) {
        int status = client.post(path(turn), stage.header(), body(turn), deadline);
        if (status != 200) {
          throw new IOException("a request of the warm-up is answered " + status);
        }
        answered.incrementAndGet();
      }
    } catch (IOException e) {
      if (!deadline.isExpired() && !Thread.currentThread().isInterrupted()) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static String path(int turn) {
    return turn % SHAPES == 2 ? "/v1/completions" : "/v1/chat/completions";
  }

  private static String body(int turn) {
    var prompt =
        turn % SHAPES == 2
            ? "\"prompt\":\"Once upon a time %d\""
            : "\"messages\":[{\"role\":\"system\",\"content\":\"Answer in a few"
                + " words.\"},{\"role\":\"user\",\"content\":\"What is number %d of the list that"
                + " follows?\"}]";
    return "{\"model\":\"%s\",\"stream\":%b,\"max_tokens\":%d,%s}"
        .formatted(WarmUpModel.NAME, turn % SHAPES != 0, TOKENS, prompt.formatted(turn));
  }

  private synchronized boolean admit(FutureTask<?> task) {
    if (!stopped) {
      tasks.add(task);
    }
    return !stopped;
  }

  private synchronized boolean isStopped() {
    return stopped;
  }

  /** Ends it soon. Idempotent. */
  public synchronized void stop() {
    stopped = true;
    tasks.forEach(task -> task.cancel(true));
  }
}
