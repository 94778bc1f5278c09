package io.dynamo.it;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Arrays;

/**
 * How long the engine goes on for clients that have left. The engine notes when a generation was
 * given up and the worker tells how long ago that is; that age is taken from the own clock after
 * the answer has come, so that what is measured is too long by the answer's way, never too short.
 */
final class Departures {
  private static final System.Logger LOG = System.getLogger(Departures.class.getName());
  private static final int TRIES = 9; // the median counts: a busy machine may be late now and then

  private Departures() {}

  /** A way to leave. */
  @FunctionalInterface
  interface Departure {
    void leave(ChatClient client) throws IOException;
  }

  /**
   * The median time from the client's departure to the end at the engine.
   *
   * @param flowing whether it leaves after its first text, or while its prompt is worked on
   */
  static Duration median(
      ServerProcess server, String name, boolean stream, boolean flowing, Departure departure)
      throws Exception {
    var nanos = new long[TRIES];
    for (int i = 0; i < TRIES; i++) {
      // a prompt of its own each time, so that none is cached
      var body = ChatClient.body(Cluster.MODEL, i + " " + name, 400, stream);
      try (var client = server.chat(body)) {
        nanos[i] = nanosToCancel(server, client, flowing, departure);
      }
    }
    Arrays.sort(nanos);
    var median = Duration.ofNanos(nanos[TRIES / 2]);
    LOG.log(
        Level.INFO,
        "%s: median %.1f ms, worst %.1f ms"
            .formatted(name, nanos[TRIES / 2] / 1e6, nanos[TRIES - 1] / 1e6));
    return median;
  }

  private static long nanosToCancel(
      ServerProcess server, ChatClient client, boolean flowing, Departure departure)
      throws Exception {
    Polling.until(
        "the engine has it",
        Duration.ofSeconds(10),
        () -> ServerFacts.worker(server).running() == 1);
    if (flowing) {
      awaitText(client);
    }
    long before = ServerFacts.worker(server).cancelled();
    long left = System.nanoTime();
    departure.leave(client);
    var ended = new long[1];
    Polling.until(
        "the engine has given it up",
        Duration.ofSeconds(10),
        () -> {
          var status = ServerFacts.worker(server);
          ended[0] = System.nanoTime() - status.lastCancelAgeNanos();
          return status.cancelled() == before + 1 && status.running() == 0;
        });
    return ended[0] - left;
  }

  private static void awaitText(ChatClient client) throws IOException {
    for (var event = client.next(); event != null; event = client.next()) {
      if (!event.text().isEmpty()) {
        return;
      }
    }
    throw new AssertionError("the stream ended without text");
  }
}
