package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.EdgeFilter;

/** Writes the answer of an asynchronous servlet request, on the thread that gives the answer. */
record ServletAnswer(AnswerWriter writer) implements AnswerSink {
  @Override
  public void error(ApiError error) {
    writer.write(() -> EdgeFilter.answer(writer.response(), error));
  }

  @Override
  public void json(byte[] body) {
    writer.write(
        () -> {
          writer.response().setContentType("application/json");
          writer.response().setContentLength(body.length);
          writer.response().getOutputStream().write(body);
        });
  }

  @Override
  public void whole(WholeBody answer) {
    writer.write(
        () -> {
          writer.response().setStatus(answer.status());
          writer.response().setContentType(answer.contentType());
          writer.response().setContentLength(answer.bytes().length);
          if (answer.metadata() != null) {
            writer.response().setHeader("metadata", answer.metadata());
          }
          writer.response().getOutputStream().write(answer.bytes());
        });
  }

  @Override
  public void parts(String contentType, PartsBody body) {
    writer.write(
        () -> {
          writer.begin(contentType);
          if (!body.writeTo(writer.response().getOutputStream())) {
            EdgeFilter.cut(writer.response());
          }
        });
  }

  @Override
  public void events(StreamBody body) {
    writer.events(body);
  }
}
