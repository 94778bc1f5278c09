package io.dynamo.net;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Sends HTTP requests whose timeout includes the body of the answer. The JDK's own ends with the
 * answer's headers, so that a server which then stalls would hold its caller for ever
 * (JDK-8208693).
 */
public final class WholeExchange {
  private WholeExchange() {}

  /**
   * Sends a request and waits for the whole answer.
   *
   * @param request has a timeout
   * @throws HttpTimeoutException when the answer is not complete in time; the exchange is cancelled
   */
  public static <T> HttpResponse<T> send(
      HttpClient client, HttpRequest request, HttpResponse.BodyHandler<T> body)
      throws IOException, InterruptedException {
    var limit =
        request
            .timeout()
            .orElseThrow(() -> new IllegalArgumentException("the request has no timeout"));
    var answer = client.sendAsync(request, body);
    try {
      return answer.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException _) {
      throw new HttpTimeoutException(
          "%s has not answered completely within %s".formatted(request.uri(), limit));
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
    } finally {
      answer.cancel(true); // does nothing to one that is complete
    }
  }
}
