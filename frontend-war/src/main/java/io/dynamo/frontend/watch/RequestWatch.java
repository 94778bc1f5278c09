package io.dynamo.frontend.watch;

import io.dynamo.frontend.ApiError;
import io.dynamo.inference.Usage;
import io.dynamo.trace.Span;
import io.dynamo.trace.TraceContext;
import io.dynamo.trace.Tracing;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Watches one request from its arrival to its end: its span, its flight recording and its line in
 * the log. Touched by the thread that serves the request, and before it by the one that took it.
 */
public final class RequestWatch {
  /** Watches the requests of a server. Safe for concurrent use. */
  public static final class Desk {
    private final Stages stages;
    private final boolean logs;

    /**
     * @param logs whether finished requests are lines in the log
     */
    public Desk(Stages stages, boolean logs) {
      this.stages = stages;
      this.logs = logs;
    }

    public Stages stages() {
      return stages;
    }

    /**
     * A request has come.
     *
     * @param endpoint Dynamo's label of the API
     * @param headers by lower-case name
     */
    public RequestWatch open(String endpoint, Map<String, String> headers) {
      return new RequestWatch(this, endpoint, headers);
    }
  }

  /**
   * Who served a request.
   *
   * @param worker in hexadecimal; null when none was found
   * @param migrations how often a text moved to another worker
   */
  public record Served(@Nullable String worker, int rank, int migrations) {
    public static final Served NOWHERE = new Served(null, 0, 0);
  }

  private final Desk desk;
  private final String endpoint;
  private final @Nullable String externalId;
  private final @Nullable TraceContext incoming;
  private final Span span;
  private final @Nullable RequestEvent whole = RequestEvent.begun();
  private final @Nullable StageEvent admission = StageEvent.begun();
  private final @Nullable StageEvent toFirstToken = StageEvent.begun();
  private final long arrived = System.nanoTime();
  private String requestId = "";
  private @Nullable String model;
  private boolean streams;
  private long firstToken = -1; // nanos after arrival, negative before it
  private @Nullable Usage usage;
  private Served served = Served.NOWHERE;

  private RequestWatch(Desk desk, String endpoint, Map<String, String> headers) {
    this.desk = desk;
    this.endpoint = endpoint;
    this.externalId = headers.get("x-request-id");
    this.incoming = TraceContext.of(headers);
    this.span = desk.stages.span(endpoint, Tracing.Kind.SERVER, incoming, Tracing.Start.NOW);
  }

  /** The request has a thread and an id. */
  public void begun(String id) {
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
   * What it asks for.
   *
   * @param name from the catalog; null when it named no model that exists
   */
  public void asksFor(@Nullable String name, boolean stream) {
    model = name;
    streams = stream;
    if (name != null) {
      span.put("gen_ai.request.model", name);
    }
  }

  public Stages stages() {
    return desk.stages;
  }

  /** The context of the request's own span; null where nothing is traced. */
  public @Nullable TraceContext context() {
    return span.context();
  }

  /** {@code headers} as they travel on: with this span as the parent, or the caller's own. */
  public Map<String, String> forwarded(Map<String, String> headers) {
    var own = span.context();
    var parent = own == null ? incoming : own;
    return parent == null ? headers : parent.in(headers);
  }

  /** The first token has come. Later calls do nothing. */
  public void firstToken() {
    if (firstToken >= 0) {
      return;
    }
    firstToken = System.nanoTime() - arrived;
    span.event("first_token");
    if (toFirstToken != null) {
      toFirstToken.end("first_token", requestId);
    }
  }

  /** What it took. */
  public void took(Usage tokens, Served by) {
    usage = tokens;
    served = by;
  }

  /**
   * The request is over.
   *
   * @param error what its client was told; null when it got what it asked for
   */
  public void end(@Nullable ApiError error) {
    int status = error == null ? 200 : error.status();
    endSpan(status, error);
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
    if (desk.logs && RequestLog.isOn()) {
      RequestLog.write(line(status, error));
    }
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

  private String line(int status, @Nullable ApiError error) {
    var line =
        new RequestLog.Line()
            .put("request_id", requestId)
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
    if (served.worker() != null) {
      line.put("worker", served.worker()).put("rank", served.rank());
      line.put("migrations", served.migrations());
    }
    var traced = span.context();
    if (traced == null) {
      traced = incoming;
    }
    return line.put("trace_id", traced == null ? null : traced.traceId()).toString();
  }
}
