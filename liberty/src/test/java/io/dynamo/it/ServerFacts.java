package io.dynamo.it;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reads a server's metrics and its worker's status. */
final class ServerFacts {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  /**
   * A worker at one moment.
   *
   * @param running generations on all ranks
   * @param heldBlocks KV blocks that they use
   * @param cancelled generations given up, ever
   * @param lastCancelAgeNanos since the last of them ended at the engine
   */
  record Worker(
      String state,
      int running,
      int waiting,
      int heldBlocks,
      long cancelled,
      long lastCancelAgeNanos) {}

  /** The label of the endpoint that generates; a worker has others, for questions of routers. */
  static final String GENERATE = "dynamo_endpoint=\"generate\"";

  private ServerFacts() {}

  static Worker worker(ServerProcess server) throws IOException, InterruptedException {
    var status = JSON.readTree(server.get("/worker/status").body());
    return new Worker(
        status.get("state").textValue(),
        sum(status, "running"),
        sum(status, "waiting"),
        sum(status, "held_blocks"),
        status.get("cancelled").longValue(),
        status.get("last_cancel_age_nanos").asLong(Long.MAX_VALUE));
  }

  private static int sum(JsonNode status, String member) {
    int sum = 0;
    for (var rank : status.get("ranks")) {
      sum += rank.get(member).intValue();
    }
    return sum;
  }

  /** Begins to drain a worker; the HTTP status. */
  static int drain(ServerProcess server) throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(server.uri("/worker/drain"))
            .timeout(Duration.ofSeconds(10))
            .POST(HttpRequest.BodyPublishers.noBody())
            .build();
    return HTTP.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  /**
   * The sum of all series of a metric; 0 when there is none.
   *
   * @param labels what a series' labels must contain, each as {@code key="value"}; an empty one
   *     takes all
   */
  static long metric(ServerProcess server, String name, String... labels)
      throws IOException, InterruptedException {
    return Pattern.compile("(?m)^" + Pattern.quote(name) + "(\\{[^}]*})? ([0-9.Ee+]+)$")
        .matcher(server.get("/metrics").body())
        .results()
        .filter(series -> Stream.of(labels).allMatch(String.valueOf(series.group(1))::contains))
        .mapToLong(series -> Math.round(Double.parseDouble(series.group(2))))
        .sum();
  }

  /** Waits until a metric has a value: counters are carried over about every second. */
  static void awaitMetric(ServerProcess server, String name, String label, long value) {
    Polling.until(
        name + "{" + label + "} is " + value,
        Duration.ofSeconds(10),
        () -> {
          long seen = metric(server, name, label);
          if (seen != value) {
            throw new IllegalStateException("it is " + seen);
          }
          return true;
        });
  }
}
