package io.dynamo.frontend.openai;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Writes the answer of an asynchronous servlet request, and ends the request.
 *
 * @param complete ends the request; run once, after the answer
 */
record AnswerWriter(HttpServletResponse response, Runnable complete) {
  /** Writes an answer, or a part of one. */
  interface Writing {
    void run() throws IOException;
  }

  void write(Writing writing) {
    try {
      writing.run();
      response.flushBuffer(); // here, and not on the pool when the request is over
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      complete.run();
    }
  }

  void events(AnswerSink.StreamBody body) {
    write(
        () -> {
          begin("text/event-stream");
          body.writeTo(response.getOutputStream());
        });
  }

  /** Sends the head of an answer that comes in parts before the first of them. */
  void begin(String contentType) throws IOException {
    response.setContentType(contentType);
    response.setHeader("Cache-Control", "no-cache");
    response.getOutputStream().flush();
  }
}
