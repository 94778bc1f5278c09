package io.dynamo.frontend.record;

import io.dynamo.net.WholeExchange;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** Sends requests whose answers' bodies nobody reads. For one thread. */
final class UploadClient implements AutoCloseable {
  private static final Duration CONNECT = Duration.ofSeconds(5);

  private final HttpClient client =
      HttpClient.newBuilder()
          .connectTimeout(CONNECT)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();

  /**
   * Sends a request and returns the status of its answer.
   *
   * @param request has a timeout
   */
  int send(HttpRequest request) throws IOException, InterruptedException {
    return WholeExchange.send(client, request, BodyHandlers.discarding()).statusCode();
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
