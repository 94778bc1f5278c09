package io.dynamo.model;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodySubscribers;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Fetches a model file from the worker that hosts it. Blocks its caller, for a bounded time. */
final class FileFetch {
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration WHOLE = Duration.ofMinutes(2);

  private FileFetch() {}

  /**
   * @param address {@code http} or {@code https}; redirects are not followed
   * @throws IOException when the answer is not 200, too long, or not complete within two minutes
   */
  static byte[] get(URI address, long maxBytes) throws IOException {
    try (var http =
        HttpClient.newBuilder()
            .connectTimeout(CONNECT)
            .followRedirects(HttpClient.Redirect.NEVER)
            .build()) {
      var answer =
          http.sendAsync(
              HttpRequest.newBuilder(address).timeout(WHOLE).build(),
              info ->
                  info.statusCode() == 200
                      ? BodySubscribers.limiting(BodySubscribers.ofByteArray(), maxBytes)
                      : BodySubscribers.replacing(new byte[0]));
      try {
        var response = answer.get(WHOLE.toSeconds(), TimeUnit.SECONDS);
        if (response.statusCode() != 200) {
          throw new FileNotFoundException(address + " was answered " + response.statusCode());
        }
        return response.body();
      } catch (ExecutionException e) {
        throw new IOException(address + " cannot be fetched: " + e.getCause(), e.getCause());
      } catch (TimeoutException e) {
        throw new IOException(address + " was not sent within " + WHOLE.toSeconds() + " s", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw (IOException) new InterruptedIOException("stopped fetching " + address).initCause(e);
      } finally {
        http.shutdownNow(); // otherwise closing waits for data still on its way
      }
    }
  }
}
