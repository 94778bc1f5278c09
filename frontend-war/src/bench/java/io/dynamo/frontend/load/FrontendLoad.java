package io.dynamo.frontend.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Asks a frontend for chats and prints how it did: requests and tokens per second, time to the
 * first token, time between tokens, and what the given processes used. Run from its source: {@code
 * java frontend-war/src/bench/java/io/dynamo/frontend/load/FrontendLoad.java --clients 64}.
 */
public final class FrontendLoad {
  private final Options options;
  private final Figures figures = new Figures();
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicLong seeds = new AtomicLong();
  private final ConcurrentLinkedQueue<Client> idle = new ConcurrentLinkedQueue<>();

  /** A connection and what it says. */
  private record Client(Connection connection, Chat chat) {}

  private FrontendLoad(Options options) {
    this.options = options;
  }

  public static void main(String[] args) throws Exception {
    try {
      new FrontendLoad(Options.parse(args)).run();
    } catch (IllegalArgumentException bad) {
      System.err.println(bad.getMessage());
      System.exit(2);
    }
  }

  private void run() throws Exception {
    var watched = new ArrayList<MeasuredProcess>();
    for (long pid : options.processes()) {
      watched.add(new MeasuredProcess(pid));
    }
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      if (options.rate() > 0) {
        threads.submit(() -> openLoop(threads));
      } else {
        new ClosedLoop(options, figures, over::get).start(threads);
      }
      sleep(options.warmupSeconds());
      for (var each : watched) {
        each.start();
      }
      figures.count(true);
      long start = System.nanoTime();
      sleep(options.seconds());
      figures.count(false);
      double seconds = (System.nanoTime() - start) / 1e9;
      print(seconds);
      for (var each : watched) {
        System.out.println(
            each.used(Math.max(1, figures.requests()), Math.max(1, figures.tokens())));
      }
      over.set(true);
    }
    System.exit(figures.failed() > 0 ? 1 : 0);
  }

  private void print(double seconds) {
    System.out.printf(
        "%s, %s: %.1f requests/s, %.0f tokens/s, %d failed%n",
        options.rate() > 0
            ? "%.0f per second".formatted(options.rate())
            : options.clients() + " clients",
        options.stream() ? "streamed" : "whole",
        figures.requests() / seconds,
        figures.tokens() / seconds,
        figures.failed());
    System.out.printf(
        "TTFT p50 / p90 / p99 %s ms; between tokens %s ms; whole %s ms%n",
        figures.millis(Answer::firstNanos, 0.5, 0.9, 0.99),
        figures.millis(Answer::betweenNanos, 0.5, 0.9, 0.99),
        figures.millis(Answer::wholeNanos, 0.5, 0.9, 0.99));
    if (figures.refused() > 0) {
      System.out.printf(
          "refused %d: p50 / p90 / p99 / most %s ms%n",
          figures.refused(), figures.refusedMillis(0.5, 0.9, 0.99, 1));
    }
  }

  private Client client() throws IOException {
    return new Client(
        new Connection(options.port(), options.api(), figures),
        new Chat(options, seeds.getAndIncrement()));
  }

  /**
   * Sends on time: a frontend that falls behind finds its requests waiting, and their wait is
   * counted.
   */
  private void openLoop(ExecutorService threads) {
    long period = (long) (1e9 / options.rate());
    for (long due = System.nanoTime(); !over.get(); due += period) {
      long wait = due - System.nanoTime();
      if (wait > 0) {
        LockSupport.parkNanos(wait);
      }
      long from = due;
      threads.submit(() -> once(from));
    }
  }

  private void once(long due) {
    try {
      var free = idle.poll();
      var client = free == null ? client() : free;
      figures.answered(client.connection().ask(client.chat().next(), due));
      idle.add(client);
    } catch (IOException | RuntimeException e) {
      figures.failed(e);
    }
  }

  private static void sleep(double seconds) throws InterruptedException {
    Thread.sleep((long) (seconds * 1000));
  }
}
