package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.batches.BatchLines;
import io.dynamo.frontend.batches.MalformedLineException;
import io.dynamo.frontend.openai.wire.BatchJson;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Serves the lines of batches as {@link TextService} serves all requests: with its admission,
 * memory, routing and deadlines. Safe for concurrent use.
 */
public final class BatchLineCalls implements BatchLines {
  private static final Map<String, Api> APIS =
      Map.of(
          "/v1/chat/completions", TextService.CHAT,
          "/v1/completions", TextService.COMPLETIONS,
          "/v1/embeddings", TextService.EMBEDDINGS,
          "/v1/responses", TextService.RESPONSES);

  private static final String JSON = "application/json";
  private static final String TENANT = "x-tenant-id";
  private static final int COPIES = 3; // of a line, and of an answer until it is in the database

  private final TextService service;
  private final RequestAdmission admission;

  public BatchLineCalls(TextService service, RequestAdmission admission) {
    this.service = service;
    this.admission = admission;
  }

  /** The endpoints that batches may ask, in order. */
  static List<String> endpoints() {
    return APIS.keySet().stream().sorted().toList();
  }

  @Override
  public boolean serves(String endpoint) {
    return APIS.containsKey(endpoint);
  }

  @Override
  public Memory memory() {
    return new LineMemory(admission.bodies().open());
  }

  @Override
  public Line read(byte[] line, String endpoint) throws MalformedLineException {
    try (var share = admission.bodies().open()) {
      var cost = new JsonCost();
      cost.add(line, line.length);
      share.chargeComplete(cost.workBytes() + line.length);
      return BatchJson.line(line, endpoint);
    }
  }

  @Override
  public Call start(Line line, String endpoint, String tenant, Memory memory) {
    var api = APIS.get(endpoint);
    if (api == null) {
      throw new IllegalArgumentException(endpoint + " is not served in batches");
    }
    var id = UUID.randomUUID().toString();
    var headers = new HashMap<>(Map.of(CallHeaders.REQUEST_ID, id));
    if (!tenant.isEmpty()) {
      headers.put(TENANT, tenant);
    }
    var answer = new Answer(id, line.body().length, memory);
    var cancellation =
        service.accept(
            api,
            new IncomingRequest(
                JSON,
                line.body().length,
                headers,
                IncomingRequest.NO_CONNECTION,
                IncomingRequest.NO_CONNECTION,
                new ByteArrayInputStream(line.body())),
            answer);
    return new RunningLine(answer.outcome, cancellation);
  }

  private record RunningLine(CompletableFuture<Outcome> outcome, Cancellation cancellation)
      implements Call {
    @Override
    public void cancel() {
      cancellation.kill();
    }
  }

  @Override
  public boolean areClientsWaiting() {
    return admission.hasWaiting();
  }

  @Override
  public byte[] result(Line line, Outcome outcome) {
    return BatchJson.result(line, outcome);
  }

  @Override
  public byte[] error(@Nullable String customId, String code, String message) {
    return BatchJson.error(customId, code, message);
  }

  @Override
  public String errors(List<InputError> errors) {
    return BatchJson.errors(errors);
  }

  /** A share that stays empty once it is closed: an answer may come after its line was given up. */
  private static final class LineMemory implements Memory {
    private final BodyBudget.Share share;
    private boolean closed; // guarded by this

    LineMemory(BodyBudget.Share share) {
      this.share = share;
    }

    @Override
    public synchronized void hold(long bytes) {
      if (closed) {
        throw new ApiException(ApiError.unavailable("nobody waits for the line any more", null));
      }
      share.chargeComplete(bytes);
    }

    @Override
    public synchronized void close() {
      closed = true;
      share.close();
    }
  }

  /** Keeps the answer to a line. */
  private static final class Answer implements AnswerSink {
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final String id;
    private final int lineBytes;
    private final Memory memory;

    Answer(String id, int lineBytes, Memory memory) {
      this.id = id;
      this.lineBytes = lineBytes;
      this.memory = memory;
    }

    @Override
    public void error(ApiError error) {
      outcome.complete(
          new Outcome(
              error.status(), id, error.body(), error.isOverload(), error.retryAfterSeconds()));
    }

    @Override
    public void json(byte[] body) {
      try {
        memory.hold(COPIES * ((long) lineBytes + body.length));
      } catch (ApiException e) {
        error(e.error());
        return;
      }
      outcome.complete(new Outcome(200, id, body, false, null));
    }

    @Override
    public void events(StreamBody body) {
      error(ApiError.of(400, "answers of batches are whole; leave `stream` out"));
      throw new UncheckedIOException(new IOException("a line of a batch reads no events"));
    }
  }
}
