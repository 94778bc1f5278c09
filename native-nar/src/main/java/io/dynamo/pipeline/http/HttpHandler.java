package io.dynamo.pipeline.http;

/** Answers requests. Called on virtual threads, one call per connection at a time; may block. */
@FunctionalInterface
public interface HttpHandler {
  /**
   * Answers one request. The thread is interrupted when the client hangs up, when the time for an
   * answer is over and when the server closes.
   *
   * @throws Exception logged, and answered as 500 without any detail
   */
  HttpAnswer answer(HttpCall call) throws Exception;
}
