package io.dynamo.it;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * Streams of the build's server that a client leaves before their end: the frontend must count them
 * as such, and the engine must give their generations up.
 */
final class Cancellations {
  private static final URI SERVER = URI.create(System.getProperty("base.url"));
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final ObjectMapper JSON = new ObjectMapper();

  private Cancellations() {}

  /** A client's program. */
  @FunctionalInterface
  interface Program {
    void run() throws Exception;
  }

  /**
   * Runs a program that leaves one stream of {@code endpoint}, and waits until the server has
   * counted it and generates no more.
   *
   * @param endpoint as metrics name it
   */
  static void expectOne(String endpoint, Program program) throws Exception {
    Polling.until("the engine is idle", LIMIT, () -> running() == 0);
    long counted = counted(endpoint);
    long givenUp = worker().get("cancelled").longValue();

    program.run();

    Polling.until(
        "one stream of " + endpoint + " is counted as left",
        LIMIT,
        () -> counted(endpoint) == counted + 1);
    Polling.until(
        "its generation is given up",
        LIMIT,
        () -> worker().get("cancelled").longValue() > givenUp && running() == 0);
  }

  private static long counted(String endpoint) throws IOException, InterruptedException {
    return Pattern.compile(
            "(?m)^dynamo_frontend_model_cancellation_total\\{endpoint=\"%s\",.*request_type=\"stream\".*} ([0-9.]+)$"
                .formatted(endpoint))
        .matcher(get("/metrics"))
        .results()
        .mapToLong(match -> Math.round(Double.parseDouble(match.group(1))))
        .sum();
  }

  private static int running() throws IOException, InterruptedException {
    int running = 0;
    for (var rank : worker().get("ranks")) {
      running += rank.get("running").intValue();
    }
    return running;
  }

  private static JsonNode worker() throws IOException, InterruptedException {
    return JSON.readTree(get("/worker/status"));
  }

  private static String get(String path) throws IOException, InterruptedException {
    try (var http = HttpClient.newHttpClient()) {
      var request = HttpRequest.newBuilder(SERVER.resolve(path)).timeout(LIMIT).build();
      return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }
  }
}
