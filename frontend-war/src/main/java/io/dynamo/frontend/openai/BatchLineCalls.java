package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.frontend.ApiError;
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
  public Line read(byte[] line, String endpoint) throws MalformedLineException {
    try (var share = admission.bodies().open()) {
      var cost = new JsonCost();
      cost.add(line, line.length);
      share.chargeComplete(cost.workBytes() + line.length);
      return BatchJson.line(line, endpoint);
    }
  }

  @Override
  public Call start(Line line, String endpoint, String tenant) {
    var api = APIS.get(endpoint);
    if (api == null) {
      throw new IllegalArgumentException(endpoint + " is not served in batches");
    }
    var id = UUID.randomUUID().toString();
    var headers = new HashMap<>(Map.of(CallHeaders.REQUEST_ID, id));
    if (!tenant.isEmpty()) {
      headers.put(TENANT, tenant);
    }
    var answer = new Answer(id);
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
  public byte[] expired(Line line) {
    return BatchJson.expired(line);
  }

  @Override
  public String errors(List<InputError> errors) {
    return BatchJson.errors(errors);
  }

  /** Keeps the answer to a line. */
  private static final class Answer implements AnswerSink {
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final String id;

    Answer(String id) {
      this.id = id;
    }

    @Override
    public void error(ApiError error) {
      complete(error.status(), error.body(), error.retryAfterSeconds());
    }

    @Override
    public void json(byte[] body) {
      complete(200, body, null);
    }

    @Override
    public void events(StreamBody body) {
      error(ApiError.of(400, "answers of batches are whole; leave `stream` out"));
      throw new UncheckedIOException(new IOException("a line of a batch reads no events"));
    }

    private void complete(int status, byte[] body, @Nullable Integer retryAfterSeconds) {
      outcome.complete(new Outcome(status, id, body, retryAfterSeconds));
    }
  }
}
