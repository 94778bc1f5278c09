package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.EdgeFilter;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Writes the answer of an asynchronous servlet request, on the thread that gives the answer.
 *
 * @param complete ends the request; run once, after the answer
 */
record ServletAnswer(HttpServletResponse response, Runnable complete) implements AnswerSink {
  private interface Writing {
    void run() throws IOException;
  }

  @Override
  public void error(ApiError error) {
    write(() -> EdgeFilter.answer(response, error));
  }

  @Override
  public void json(byte[] body) {
    write(
        () -> {
          response.setContentType("application/json");
          response.setContentLength(body.length);
          response.getOutputStream().write(body);
        });
  }

  @Override
  public void whole(WholeBody answer) {
    write(
        () -> {
          response.setStatus(answer.status());
          response.setContentType(answer.contentType());
          response.setContentLength(answer.bytes().length);
          if (answer.metadata() != null) {
            response.setHeader("metadata", answer.metadata());
          }
          response.getOutputStream().write(answer.bytes());
        });
  }

  @Override
  public void parts(String contentType, PartsBody body) {
    write(
        () -> {
          response.setContentType(contentType);
          response.setHeader("Cache-Control", "no-cache");
          var out = response.getOutputStream();
          out.flush(); // the head goes out before the first part
          if (!body.writeTo(out)) {
            EdgeFilter.cut(response);
          }
        });
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
