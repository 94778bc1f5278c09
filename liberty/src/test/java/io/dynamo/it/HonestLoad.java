package io.dynamo.it;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Well-behaved clients at a fixed pace, each on a connection of its own: every answer is compared
 * with the oracle's text and timed from the request to its last byte. Started and closed by one
 * thread.
 */
final class HonestLoad implements AutoCloseable {
  private static final int PROMPTS = 10_000;
  private static final long SETTLE_SECONDS = 120;

  private final ServerProcess frontend;
  private final OracleText oracle;
  private final int tokens;
  private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
  private final ConcurrentLinkedQueue<Long> nanos = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<String> failures = new ConcurrentLinkedQueue<>();
  private final AtomicInteger number = new AtomicInteger();
  private final AtomicLong answered = new AtomicLong();

  /**
   * @param tokens of each answer
   */
  HonestLoad(ServerProcess frontend, OracleText oracle, int tokens) {
    this.frontend = frontend;
    this.oracle = oracle;
    this.tokens = tokens;
  }

  /** Answers per second when {@code clients} ask one request after the other. */
  double capacity(int clientCount, long seconds) {
    long before = answered.get();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    try (var loops = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < clientCount; i++) {
        loops.execute(
            () -> {
              while (System.nanoTime() < end) {
                ask(number.getAndIncrement() % PROMPTS);
              }
            });
      }
    }
    return (answered.get() - before) / (double) seconds;
  }

  /** Starts {@code perSecond} requests a second until {@code endNanos}; then waits for them. */
  void run(double perSecond, long endNanos) throws InterruptedException {
    long period = (long) (1e9 / perSecond);
    var running = new ArrayList<Future<?>>();
    for (long due = System.nanoTime(); due < endNanos; due += period) {
      while (System.nanoTime() < due) {
        LockSupport.parkNanos(due - System.nanoTime());
      }
      running.add(clients.submit(() -> ask(number.getAndIncrement() % PROMPTS)));
      if (running.size() > 4096) {
        running.removeIf(Future::isDone);
      }
    }
    for (var request : running) {
      try {
        request.get(SETTLE_SECONDS, TimeUnit.SECONDS);
      } catch (ExecutionException | TimeoutException e) {
        failures.add("did not end: " + e);
      }
    }
  }

  private void ask(int prompt) {
    long asked = System.nanoTime();
    try (var client =
        frontend.chat(ChatClient.body(Cluster.MODEL, OracleText.prompt(prompt), tokens, true))) {
      if (client.status() != 200) {
        failures.add("status " + client.status() + ": " + client.json());
        return;
      }
      var text = client.text();
      if (!text.equals(oracle.answer(prompt, tokens))) {
        failures.add("prompt %d was answered %s".formatted(prompt, text));
      }
      nanos.add(System.nanoTime() - asked);
      answered.incrementAndGet();
    } catch (IOException | AssertionError e) {
      failures.add("prompt %d: %s".formatted(prompt, e));
    }
  }

  /** The times since the last call, in nanoseconds, sorted. */
  long[] takeTimes() {
    var taken = new ArrayList<Long>();
    for (var time = nanos.poll(); time != null; time = nanos.poll()) {
      taken.add(time);
    }
    var sorted = taken.stream().mapToLong(Long::longValue).toArray();
    Arrays.sort(sorted);
    return sorted;
  }

  /** How requests failed so far. */
  List<String> failures() {
    return List.copyOf(failures);
  }

  @Override
  public void close() {
    clients.shutdownNow();
    clients.close();
  }
}
