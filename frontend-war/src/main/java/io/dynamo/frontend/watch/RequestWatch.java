package io.dynamo.frontend.watch;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.record.Payload;
import io.dynamo.frontend.record.Placement;
import io.dynamo.frontend.record.RequestRecord;
import io.dynamo.frontend.record.RequestRecords;
import io.dynamo.inference.Usage;
import io.dynamo.trace.Span;
import io.dynamo.trace.TraceContext;
import io.dynamo.trace.Tracing;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Records one request from its arrival to its end as a span, a flight recording and a log line.
 * Used by the thread that accepted the request, then by the one that serves it.
 */
public final class RequestWatch {
  /** Opens the watch of each request. Safe for concurrent use. */
  public static final class WatchFactory {
    private final Stages stages;
    private final boolean logs;
    private final RequestConsole console;
    private final RecentFailures failures;
    private final RequestRecords records;

    /** Creates a factory whose requests leave no lines on the console and no records. */
    public WatchFactory(Stages stages, boolean logs) {
      this(stages, logs, RequestRecords.OFF);
    }

    /** Creates a factory whose requests leave no lines on the console. */
    public WatchFactory(Stages stages, boolean logs, RequestRecords records) {
      this(stages, logs, RequestConsole.OFF, new RecentFailures(), records);
    }

    /**
     * @param logs whether each finished request is logged
     * @param failures keeps the newest requests that ended in an error
     */
    public WatchFactory(
        Stages stages,
        boolean logs,
        RequestConsole console,
        RecentFailures failures,
        RequestRecords records) {
      this.stages = stages;
      this.logs = logs;
      this.console = console;
      this.failures = failures;
      this.records = records;
    }

    public Stages stages() {
      return stages;
    }

    /**
     * Opens the watch of a request that has just arrived.
     *
     * @param endpoint Dynamo's label of the API
     * @param headers by lower-case name
     */
    public RequestWatch open(String endpoint, Map<String, String> headers) {
      return new RequestWatch(this, endpoint, headers);
    }
  }

  /**
   * The worker that served a request last.
   *
   * @param worker its id in hexadecimal; null when no worker was chosen
   * @param migrations the number of moves to another worker, over all texts
   */
  public record ServingWorker(@Nullable String worker, int rank, int migrations) {
    public static final ServingWorker NONE = new ServingWorker(null, 0, 0);
  }

  private final WatchFactory factory;
  private final String endpoint;
  private final @Nullable String externalId;
  private final @Nullable TraceContext incoming;
  private final Span span;
  private final @Nullable RequestEvent whole = RequestEvent.beginIfEnabled();
  private final @Nullable StageEvent admission = StageEvent.beginIfEnabled();
  private final @Nullable StageEvent toFirstToken = StageEvent.beginIfEnabled();
  private final long arrived = System.nanoTime();
  private String requestId = "";
  private @Nullable String model;
  private boolean streams;
  private long firstToken = -1; // nanos after arrival, negative before it
  private @Nullable Usage usage;
  private ServingWorker servedBy = ServingWorker.NONE;
  private @Nullable Placement placement;
  private Map<String, Object> agent = Map.of();
  private final @Nullable Payload payload;

  private RequestWatch(WatchFactory factory, String endpoint, Map<String, String> headers) {
    this.factory = factory;
    this.endpoint = endpoint;
    this.externalId = headers.get("x-request-id");
    this.incoming = TraceContext.of(headers);
    this.payload = factory.records.openPayload(headers);
    this.span = factory.stages.span(endpoint, Tracing.Kind.SERVER, incoming, Tracing.Start.NOW);
  }

  /** Starts the request: it has a thread and an id now. */
  public void start(String id) {
    requestId = id;
    span.put("dynamo.request_id", id).put("dynamo.endpoint", endpoint);
    if (externalId != null) {
      span.put("dynamo.x_request_id", externalId);
    }
    if (admission != null) {
      admission.end("admission", id);
    }
  }

  /**
   * Sets the model that the request names.
   *
   * @param name from the catalog; null when the named model does not exist
   */
  public void setModel(@Nullable String name, boolean stream) {
    model = name;
    streams = stream;
    if (name != null) {
      span.put("gen_ai.request.model", name);
    }
  }

  public Stages stages() {
    return factory.stages;
  }

  /** The context of the request's own span; null where nothing is traced. */
  public @Nullable TraceContext context() {
    return span.context();
  }

  /** The headers for workers: {@code headers} with this span as parent, or else the caller's. */
  public Map<String, String> forwardedHeaders(Map<String, String> headers) {
    var own = span.context();
    var parent = own == null ? incoming : own;
    return parent == null ? headers : parent.in(headers);
  }

  /** Records the time of the first token. Later calls are ignored. */
  public void recordFirstToken() {
    if (firstToken >= 0) {
      return;
    }
    firstToken = System.nanoTime() - arrived;
    span.event("first_token");
    if (toFirstToken != null) {
      toFirstToken.end("first_token", requestId);
    }
  }

  /** Records the tokens of the request and the worker that served it. */
  public void recordUsage(Usage tokens, ServingWorker worker) {
    usage = tokens;
    servedBy = worker;
  }

  /**
   * Records the session that the request belongs to.
   *
   * @param session texts and truth values, by Dynamo's names
   */
  public void recordAgent(Map<String, Object> session) {
    agent = session;
  }

  /** Whether {@link #recordPlacement} has an effect. */
  public boolean leavesRecord() {
    return factory.records.takesEnds();
  }

  /** Gathers the request and its answer; null when they are not recorded. */
  public @Nullable Payload payload() {
    return payload;
  }

  /** Records where the prompt was computed and the answer generated. */
  public void recordPlacement(Placement place) {
    placement = place;
  }

  /**
   * Ends the request: its span, its recording, its log line, its record.
   *
   * @param error the error that the client got; null for success
   */
  public void end(@Nullable ApiError error) {
    try {
      report(error);
    } finally {
      if (payload != null) {
        boolean gone = error != null && error.status() == ApiError.CLIENT_GONE;
        payload.end(requestId, endpoint, model, arrivedMillis(), gone);
      }
    }
  }

  private void report(@Nullable ApiError error) {
    int status = error == null ? 200 : error.status();
    endSpan(status, error);
    if (error != null && status != ApiError.CLIENT_GONE) {
      keep(error);
    }
    if (whole != null) {
      whole.requestId = requestId;
      whole.model = model;
      whole.endpoint = endpoint;
      whole.status = status;
      whole.inputTokens = usage == null ? 0 : usage.promptTokens();
      whole.outputTokens = usage == null ? 0 : usage.completionTokens();
      whole.firstToken = Math.max(0, firstToken);
      whole.commit();
    }
    if (placement != null && usage != null && model != null) {
      long now = System.nanoTime();
      factory.records.add(
          new RequestRecord(
              requestId,
              externalId,
              model,
              agent,
              new RequestRecord.Moments(arrived, now, System.currentTimeMillis()),
              firstToken,
              usage,
              placement));
    }
    if (factory.logs && RequestLog.isOn()) {
      var line = RequestLog.Line.pairs();
      describe(line, status, error);
      RequestLog.write(line.toString());
    }
    if (factory.console.takes(status)) {
      factory.console.print(status, line -> describe(line, status, error));
    }
  }

  private long arrivedMillis() {
    return System.currentTimeMillis() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - arrived);
  }

  private void keep(ApiError error) {
    var traced = span.context();
    if (traced == null) {
      traced = incoming;
    }
    factory.failures.add(
        new RecentFailures.Failure(
            Instant.now(),
            requestId,
            endpoint,
            model,
            error.status(),
            error.errorType(),
            error.message(),
            servedBy.worker(),
            traced == null ? null : traced.traceId()));
  }

  private void endSpan(int status, @Nullable ApiError error) {
    span.put("http.response.status_code", status);
    if (usage != null) {
      span.put("gen_ai.usage.input_tokens", usage.promptTokens());
      span.put("gen_ai.usage.output_tokens", usage.completionTokens());
    }
    if (error != null) {
      span.fail(error.errorType());
    }
    span.end();
  }

  private void describe(RequestLog.Line line, int status, @Nullable ApiError error) {
    line.put("request_id", requestId)
        .put("x_request_id", externalId)
        .put("endpoint", endpoint)
        .put("model", model)
        .put("status", status)
        .put("error_type", error == null ? null : error.errorType())
        .put("stream", Boolean.toString(streams));
    if (usage != null) {
      line.put("input_tokens", usage.promptTokens()).put("output_tokens", usage.completionTokens());
      if (usage.cachedTokens() != null) {
        line.put("cached_tokens", usage.cachedTokens());
      }
    }
    if (firstToken >= 0) {
      line.millis("ttft_ms", firstToken);
    }
    line.millis("total_ms", System.nanoTime() - arrived);
    if (servedBy.worker() != null) {
      line.put("worker", servedBy.worker()).put("rank", servedBy.rank());
      line.put("migrations", servedBy.migrations());
    }
    var traced = span.context();
    if (traced == null) {
      traced = incoming;
    }
    line.put("trace_id", traced == null ? null : traced.traceId());
  }
}
