package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.kserve.InferCalls;
import io.dynamo.frontend.kserve.InferRequestReader;
import io.dynamo.frontend.kserve.ModelDirectory;
import io.dynamo.frontend.openai.wire.KserveForm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Serves KServe's requests as {@link TextService} serves all others: with its admission, memory,
 * routing and deadlines. Safe for concurrent use.
 */
public final class KserveCalls implements InferCalls {
  private static final String TYPE = "application/grpc+proto";

  private final TextService service;
  private final ModelDirectory models;

  public KserveCalls(TextService service, ModelDirectory models) {
    this.service = service;
    this.models = models;
  }

  @Override
  public Cancellation start(
      byte[] message, Runnable onRead, Caller caller, boolean streamed, Answer answer) {
    var head = InferRequestReader.head(message);
    var form = new KserveForm.Rpc(streamed);
    return service.accept(
        models.takesTensors(head.model()) ? new TensorApi(form) : new KserveApi(form),
        new IncomingRequest(
            TYPE,
            message.length,
            named(caller.headers(), head.id()),
            IncomingRequest.NO_CONNECTION, // its transport notices that the client is gone
            IncomingRequest.NO_CONNECTION,
            new MessageStream(message, onRead),
            caller.patience()),
        new Sink(answer, models, head.model(), System.nanoTime()));
  }

  /** The headers, with the message's own id where that is the caller's name for the request. */
  private static Map<String, String> named(Map<String, String> headers, String id) {
    if (id.isEmpty() || headers.containsKey(CallHeaders.REQUEST_ID)) {
      return headers;
    }
    var named = new HashMap<>(headers);
    named.put(CallHeaders.REQUEST_ID, id); // counts when it is a UUID
    return named;
  }

  private record Sink(Answer answer, ModelDirectory models, String model, long beginNanos)
      implements CountedSink {
    @Override
    public void ended(@Nullable ApiError error) {
      models.recordInference(model, error == null, System.nanoTime() - beginNanos);
    }

    @Override
    public void error(ApiError error) {
      answer.failed(error);
    }

    @Override
    public void json(byte[] body) {
      answer.message(body);
      answer.done();
    }

    @Override
    public void events(StreamBody body) {
      var frames = new FrameSplitter(answer::message);
      try {
        body.writeTo(frames);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      if (!frames.isBroken()) {
        answer.done();
      }
    }
  }
}
