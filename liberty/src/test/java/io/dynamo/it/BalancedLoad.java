package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * Clients behind a balancer that stream one answer after the other and hold each against the text
 * of an unbroken run. {@link #moveTo} has them ask another frontend. Owned by one test thread.
 */
final class BalancedLoad implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int TOKENS = 40;
  private static final int NUMBERS = 100_000; // of the prompts of one client

  private final OracleText oracle;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Future<?>> clients = new ArrayList<>();
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final AtomicInteger answered = new AtomicInteger();

  /** Read by who sends a request, until its answer begins; written by who moves the balancer. */
  private final ReadWriteLock sending = new ReentrantReadWriteLock(true);

  private int port;

  BalancedLoad(int clients, int port) throws IOException {
    this.oracle = OracleText.ofShippedModel();
    this.port = port;
    for (int i = 0; i < clients; i++) {
      int client = i;
      this.clients.add(threads.submit(() -> ask(client)));
    }
  }

  private @Nullable Void ask(int client) throws IOException {
    for (int i = 0; !stopped.get(); i++) {
      int number = client * NUMBERS + i;
      try (var stream = begun(number)) {
        assertThat(stream.text())
            .as("answer %d of client %d", i, client)
            .isEqualTo(oracle.answer(number, TOKENS));
      }
      answered.incrementAndGet();
    }
    return null;
  }

  /** Sends a request, and returns when the status of its answer has come. */
  private ChatClient begun(int number) throws IOException {
    sending.readLock().lock();
    try {
      var stream =
          ChatClient.post(
              port, ChatClient.body(Cluster.MODEL, OracleText.prompt(number), TOKENS, true));
      if (stream.status() != 200) {
        try (stream) {
          throw new AssertionError("request %d: %s".formatted(number, stream.text()));
        }
      }
      return stream;
    } finally {
      sending.readLock().unlock();
    }
  }

  /**
   * Directs all later requests to another frontend, once each earlier one has the status of its
   * answer.
   */
  void moveTo(int otherPort) {
    sending.writeLock().lock();
    try {
      port = otherPort;
    } finally {
      sending.writeLock().unlock();
    }
  }

  /** Waits for {@code count} more whole answers; fails as soon as a client has. */
  void awaitMore(int count) {
    int enough = answered.get() + count;
    Polling.until(
        "the load goes on",
        LIMIT,
        () -> {
          for (var client : clients) {
            if (client.state() == Future.State.FAILED) {
              throw new AssertionError("a client of the load failed", client.exceptionNow());
            }
          }
          return answered.get() >= enough;
        });
  }

  /** Ends when each client's last answer has; returns how many there were. */
  int end() throws Exception {
    stopped.set(true);
    for (var client : clients) {
      client.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    }
    return answered.get();
  }

  /** Interrupts the clients, which closes their connections, and waits until they have ended. */
  @Override
  public void close() {
    stopped.set(true);
    threads.shutdownNow();
    threads.close();
  }
}
