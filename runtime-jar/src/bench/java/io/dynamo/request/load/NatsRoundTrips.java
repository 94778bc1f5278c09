package io.dynamo.request.load;

import io.nats.client.Nats;
import io.nats.client.Options;
import java.time.Duration;

/**
 * Measures requests and replies of NATS's own client, one after the other, without a plane of ours.
 */
@SuppressWarnings("try") // an interrupt ends the process
final class NatsRoundTrips {
  private static final int BYTES = 300; // about those of a request of the plane

  private NatsRoundTrips() {}

  /** Answers each message with its own bytes. */
  static void worker(String nats) throws Exception {
    try (var connection = Nats.connect(new Options.Builder().server(nats).build())) {
      var replies =
          connection.createDispatcher(
              message -> connection.publish(message.getReplyTo(), message.getData()));
      replies.subscribe("bench.bare");
      connection.flush(Duration.ofSeconds(10));
      Child.answer(command -> "");
    }
  }

  static void client(String nats) throws Exception {
    try (var connection = Nats.connect(new Options.Builder().server(nats).build())) {
      var body = new byte[BYTES];
      Child.answer(
          command -> { // run bare ITEMS STREAMS MILLIS, of which the last counts
            long start = System.nanoTime();
            long end = start + Long.parseLong(command.split(" ")[4]) * 1_000_000;
            long requests = 0;
            while (System.nanoTime() < end) {
              if (connection.request("bench.bare", body, Duration.ofSeconds(5)) == null) {
                return "%d %d 1 %d".formatted(requests, requests, System.nanoTime() - start);
              }
              requests++;
            }
            return "%d %d 0 %d".formatted(requests, requests, System.nanoTime() - start);
          });
    }
  }
}
