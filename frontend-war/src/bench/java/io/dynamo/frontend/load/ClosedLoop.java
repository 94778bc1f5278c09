package io.dynamo.frontend.load;

import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Clients that each send one request after the other, on a thread each. */
final class ClosedLoop {
  private final Options options;
  private final Figures figures;
  private final BooleanSupplier over;

  ClosedLoop(Options options, Figures figures, BooleanSupplier over) {
    this.options = options;
    this.figures = figures;
    this.over = over;
  }

  /** Starts all clients. */
  void start(ExecutorService threads) {
    for (int i = 0; i < options.clients(); i++) {
      long seed = i;
      threads.submit(() -> ask(seed));
    }
  }

  private void ask(long seed) {
    var chat = new Chat(options, seed);
    while (!over.getAsBoolean()) {
      try (var connection = new Connection(options.port(), options.api(), figures)) {
        while (!over.getAsBoolean()) {
          var answer = connection.ask(chat.next(), System.nanoTime());
          if (!answer.refused()) {
            figures.joined(Math.max(0, options.tokens() - answer.tokens()));
          }
          figures.answered(answer);
        }
      } catch (IOException | RuntimeException e) {
        figures.failed(e);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
      }
    }
  }
}
