package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.Failed;
import io.dynamo.error.FailureShape;
import io.dynamo.error.WorkerLostException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.openai.wire.ChunkFormat;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.frontend.sse.ClientConnection;
import java.lang.System.Logger.Level;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One admitted request, from its body to its one answer and its counted end. Used by the request's
 * own thread only.
 */
final class TextRequest {
  private static final System.Logger LOG = System.getLogger(TextRequest.class.getName());
  static final ApiError INTERNAL = ApiError.of(500, "Internal server error");
  private static final ApiError GONE = ApiError.of(new CancelledException("the client left"));

  private final ServingParts parts;
  private final ReceivedRequest received;
  private final TrackedAnswer answer;
  private final @Nullable CountedSink counted;
  private final ClientConnection client;
  private @Nullable FollowUpPrefill followUp;

  TextRequest(ServingParts parts, ReceivedRequest received, AnswerSink sink) {
    this.parts = parts;
    this.received = received;
    this.answer = new TrackedAnswer(sink);
    this.counted = sink instanceof CountedSink it ? it : null;
    this.client =
        new ClientConnection(
            received.http().local(), received.http().remote(), received.cancellation());
    received.account().onFirstToken(received.watch()::recordFirstToken);
  }

  ClientConnection client() {
    return client;
  }

  /**
   * Serves and answers the request.
   *
   * @return the error that the client got; null for success
   */
  @Nullable ApiError serve() {
    received.watch().start(received.id());
    try {
      return generate();
    } catch (InterruptedException e) {
      try {
        return refuse(ApiError.unavailable("Service is shutting down", null));
      } finally {
        Thread.currentThread().interrupt(); // only now: writing would fail with it
      }
    } catch (ApiException | DynamoException e) {
      log(e);
      return refuse(received.account().errorFor(e));
    }
  }

  /**
   * Answers a request whose {@link #serve} threw, unless its answer was started.
   *
   * @return the error that the client got
   */
  ApiError fail(Throwable cause) {
    if (answer.isStarted() && cause instanceof RuntimeException) {
      answer.breakOff(cause);
      return GONE;
    }
    LOG.log(
        Level.ERROR, "request " + received.id() + " failed unexpectedly", FailureShape.of(cause));
    if (!answer.isStarted()) {
      try {
        refuse(INTERNAL);
      } catch (RuntimeException e) {
        LOG.log(Level.DEBUG, "an answer could not be written", FailureShape.of(e));
      }
    }
    return INTERNAL;
  }

  /** Whether the client asked for a prefill of its next turn, and this one was generated. */
  boolean hasFollowUp() {
    return followUp != null;
  }

  /** Prefills the client's next turn, if it asked for that. */
  void followUp(Cancellation cancellation, Deadline deadline) {
    if (followUp != null) {
      followUp.run(parts, received, cancellation, deadline);
    }
  }

  /** Frees the request's memory. Idempotent. */
  void release() {
    followUp = null;
    received.share().close();
  }

  /**
   * Counts the request, and frees its memory unless its follow-up needs that. A request that was
   * fully answered is a success, even when its client left afterwards.
   */
  void end(@Nullable ApiError outcome) {
    if (followUp == null) {
      release();
    }
    var error = outcome;
    if (outcome != null && (client.loss() != ClientConnection.Loss.NONE || answer.isBroken())) {
      received.account().recordDisconnect();
      error = GONE;
    }
    received.account().end(error);
    received.watch().end(error);
    if (counted != null) {
      counted.ended(error);
    }
  }

  private ApiError refuse(ApiError error) {
    answer.error(error);
    return error;
  }

  private @Nullable ApiError generate() throws InterruptedException {
    received.api().checkContentType(received.http().contentType());
    DynamoException failure;
    try (var prepared = prepare()) {
      failure = prepared == null ? null : run(prepared);
      followUp = prepared == null || failure != null ? null : prepared.followUp();
    }
    if (answer.isBroken()) {
      return GONE;
    }
    if (failure == null) {
      return null;
    }
    log(failure);
    return received.account().errorFor(failure);
  }

  private @Nullable DynamoException run(PreparedAnswer prepared) throws InterruptedException {
    parts.active().add(prepared);
    try {
      return prepared.run(answer, client);
    } finally {
      parts.active().remove(prepared);
    }
  }

  /**
   * Prepares the request for workers. A method of its own, so that no frame of the stack keeps the
   * request's body while the texts are generated.
   *
   * @return null when the request asked for its prompt or its route only, and is answered
   */
  private @Nullable PreparedAnswer prepare() throws InterruptedException {
    var prepared = parts.intake().take(received);
    var text = prepared.model().text();
    received.share().gather(prepared.parsed().promptAnswerBytes(text, prepared.prompts()));
    var known = prepared.parsed().promptAnswer(text, prepared.prompts());
    if (known != null) {
      answer.json(known);
      return null;
    }
    var model = prepared.model();
    var wish = prepared.parsed().embeddings(model.name(), model.checksum(), prepared.prompts());
    if (wish != null) {
      return new EmbeddingRun(parts, received, model, wish, prepared.context());
    }
    var task = prepared.parsed().task();
    if (task != null) {
      return new TaskRun(parts, received, model, task, prepared.context());
    }
    var parsed = prepared.parsed();
    var relay = parsed.relay();
    if (relay != null) {
      return new RelayRun(parts, received, model, relay, prepared.context());
    }
    var tensors = parsed.tensors();
    if (tensors != null) {
      return TensorRun.start(parts, received, model, tensors, prepared.context());
    }
    var id = prepared.context().id();
    long seconds = parts.execution().clock().instant().getEpochSecond();
    var field = parts.rules().reasoningField();
    var format = parsed.answerFormat(id, seconds, model.name(), field);
    if (parsed.fields().nvext().asksForRouteOnly() && format instanceof ChunkFormat chunks) {
      writeRoute(prepared, chunks);
      return null;
    }
    var recorded =
        received.watch().payload() == null
            ? null
            : parsed.recordFormat(id, seconds, model.name(), field);
    return new TextGeneration(parts, received, prepared, format, recorded);
  }

  /** Answers with the worker that would serve the first prompt, without generating a text. */
  private void writeRoute(PreparedRequest prepared, ChunkFormat format) {
    var prompt = prepared.prompts().getFirst();
    var trace =
        parts
            .models()
            .dispatcher()
            .route(prepared.model(), prepared.request(0), prepared.context());
    var nvext = NvextText.route(trace, prompt.tokens());
    if (prepared.parsed().fields().stream().events()) {
      var frames = new ByteText(512);
      format.chunk(frames, 0, "", true, null, null, null, nvext);
      ChunkFormat.done(frames);
      answer.events(frames::writeTo);
    } else {
      var empty = new ChunkFormat.CompletedChoice(0, "", null, null, null);
      answer.json(format.unary(List.of(empty), null, nvext));
    }
  }

  /** Logs a failure once, without its message, which may repeat text of a client or a model. */
  private void log(RuntimeException failure) {
    var id = received.id();
    if (failure instanceof DeadlineExceededException) {
      LOG.log(Level.INFO, "request {0} was not done within its deadline", id);
    } else if (failure instanceof Failed && !(failure instanceof CancelledException)) {
      LOG.log(Level.WARNING, "request " + id + " failed", FailureShape.of(failure));
    } else if (failure instanceof WorkerLostException lost) {
      LOG.log(Level.WARNING, "request {0} lost its worker: {1}", id, lost.code());
    } else if (LOG.isLoggable(Level.DEBUG)) {
      var error = ApiError.of(failure);
      LOG.log(Level.DEBUG, "request {0} was refused: {1}, {2}", id, error.status(), error.code());
    }
  }
}
