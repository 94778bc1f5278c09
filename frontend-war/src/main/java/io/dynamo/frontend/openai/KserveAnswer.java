package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ErrorFormat;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/**
 * Writes the answer of KServe's REST routes, on the thread that gives the answer.
 *
 * @param complete ends the request; run once, after the answer
 */
record KserveAnswer(HttpServletResponse response, Runnable complete) implements AnswerSink {
  private interface Writing {
    void run() throws IOException;
  }

  @Override
  public void error(ApiError error) {
    write(
        () -> {
          response.setStatus(error.status());
          if (error.retryAfterSeconds() != null) {
            response.setIntHeader("Retry-After", error.retryAfterSeconds());
          }
          whole("application/json", ErrorFormat.KSERVE.body(error), 0);
        });
  }

  /** {@inheritDoc} Contents of tensors may follow the JSON; its length then goes before it. */
  @Override
  public void json(byte[] body) {
    write(
        () -> {
          if (body[0] == '{') {
            whole("application/json", body, 0);
          } else {
            int jsonBytes = ByteBuffer.wrap(body).getInt();
            response.setIntHeader("Inference-Header-Content-Length", jsonBytes);
            whole("application/octet-stream", body, Integer.BYTES);
          }
        });
  }

  private void whole(String type, byte[] body, int from) throws IOException {
    response.setContentType(type);
    response.setContentLength(body.length - from);
    response.getOutputStream().write(body, from, body.length - from);
  }

  @Override
  public void events(StreamBody body) {
    write(
        () -> {
          response.setContentType("text/event-stream");
          response.setHeader("Cache-Control", "no-cache");
          var out = response.getOutputStream();
          out.flush(); // the head goes out before the first event
          body.writeTo(out);
        });
  }

  private void write(Writing writing) {
    try {
      writing.run();
      response.flushBuffer(); // here, and not on the pool when the request is over
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      complete.run();
    }
  }
}
