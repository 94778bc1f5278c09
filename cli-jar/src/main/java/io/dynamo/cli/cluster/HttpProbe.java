package io.dynamo.cli.cluster;

import io.dynamo.net.WholeExchange;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Asks a page of a process over HTTP; it serves when the answer is 200 and has a text.
 *
 * @param text what the answer must contain
 */
record HttpProbe(URI page, String text) implements Probe {
  private static final Duration LIMIT = Duration.ofSeconds(3);
  private static final int MOST_BYTES = 4 << 20;
  private static final int UNAUTHORIZED = 401;
  private static final HttpClient HTTP =
      HttpClient.newBuilder().connectTimeout(LIMIT).version(HttpClient.Version.HTTP_1_1).build();

  @Override
  public @Nullable String problem() throws InterruptedException {
    try {
      var answer =
          WholeExchange.send(
              HTTP,
              HttpRequest.newBuilder(page).timeout(LIMIT).build(),
              BodyHandlers.limiting(BodyHandlers.ofString(), MOST_BYTES));
      if (answer.statusCode() == UNAUTHORIZED) {
        return null; // it serves those who have a key
      }
      if (answer.statusCode() != 200) {
        return "%s answers %d".formatted(page, answer.statusCode());
      }
      return answer.body().contains(text) ? null : "%s has no %s yet".formatted(page, text);
    } catch (IOException e) {
      return "%s does not answer".formatted(page);
    }
  }
}
