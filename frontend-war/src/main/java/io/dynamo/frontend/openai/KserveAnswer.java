package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ErrorFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the answer of KServe's REST routes, on the thread that gives the answer.
 *
 * @param ended learns of the error that the client got; null for success
 */
record KserveAnswer(AnswerWriter writer, Consumer<@Nullable ApiError> ended)
    implements CountedSink {
  @Override
  public void ended(@Nullable ApiError error) {
    ended.accept(error);
  }

  @Override
  public void error(ApiError error) {
    writer.write(
        () -> {
          writer.response().setStatus(error.status());
          if (error.retryAfterSeconds() != null) {
            writer.response().setIntHeader("Retry-After", error.retryAfterSeconds());
          }
          whole("application/json", ErrorFormat.KSERVE.body(error), 0);
        });
  }

  /** {@inheritDoc} Contents of tensors may follow the JSON; its length then goes before it. */
  @Override
  public void json(byte[] body) {
    writer.write(
        () -> {
          if (body[0] == '{') {
            whole("application/json", body, 0);
          } else {
            int jsonBytes = ByteBuffer.wrap(body).getInt();
            writer.response().setIntHeader("Inference-Header-Content-Length", jsonBytes);
            whole("application/octet-stream", body, Integer.BYTES);
          }
        });
  }

  private void whole(String type, byte[] body, int from) throws IOException {
    writer.response().setContentType(type);
    writer.response().setContentLength(body.length - from);
    writer.response().getOutputStream().write(body, from, body.length - from);
  }

  @Override
  public void events(StreamBody body) {
    writer.events(body);
  }
}
