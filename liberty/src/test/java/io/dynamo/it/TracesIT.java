package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Spans that a collector receives for requests through a real server. */
class TracesIT {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String CALLER = "b7ad6b7169203331";
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private static HttpResponse<String> post(ServerProcess server, String body, String... headers)
      throws Exception {
    return server.post("/v1/chat/completions", body, headers);
  }

  private static Span named(Map<String, Span> spans, String name) {
    return Objects.requireNonNull(spans.get(name), name);
  }

  private static Map<String, Span> byName(List<Span> spans) {
    return spans.stream().collect(Collectors.toMap(Span::getName, span -> span));
  }

  @Test
  void theStagesOfARequestAreSpansOfItsCallersTrace() throws Exception {
    try (var collector = new SpanCollector();
        var server =
            ServerProcess.Plan.named("traces")
                .with("OTEL_EXPORT_ENABLED", "true")
                .with("OTEL_EXPORTER_OTLP_ENDPOINT", collector.base() + "/")
                .with("OTEL_EXPORTER_OTLP_HEADERS", "x-credential=s%20ecret")
                .with("OTEL_SERVICE_NAME", "front")
                .with("DYNAMO_LOG_CONSOLE_LEVEL", "INFO")
                .start()
                .awaitReady()) {
      var answer =
          post(
              server,
              ChatClient.body(Cluster.MODEL, "Trace this", 4, true),
              "traceparent",
              "00-" + TRACE + "-" + CALLER + "-01",
              "tracestate",
              "rojo=1",
              "x-dynamo-request-id",
              "9776aa5a-8c43-4e7c-a4a3-94f1f5404761");
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);

      Polling.untilAsserted(PATIENCE, () -> assertThat(collector.trace(TRACE)).hasSize(8));
      var spans = byName(collector.trace(TRACE));
      assertThat(spans.keySet())
          .containsExactlyInAnyOrder(
              "chat_completions",
              "preprocess",
              "template",
              "tokenize",
              "generation",
              "route",
              "leg",
              "handle_payload");
      parentsAreRight(spans);
      attributesTellWhatWasDone(spans);
      theWorkerTellsOfItsPart(spans);
      assertThat(collector.services()).containsOnly("front");
      assertThat(collector.credentials()).containsOnly("s ecret");

      aRefusalIsAFailedSpan(server, collector);
      assertUnsampledTraceIsNotExported(server, collector);
      assertThat(server.messages())
          .contains("request_id=9776aa5a-8c43-4e7c-a4a3-94f1f5404761 endpoint=chat_completions")
          .contains("trace_id=" + TRACE);
    }
  }

  private static void parentsAreRight(Map<String, Span> spans) {
    var parents =
        Map.of(
            "preprocess", "chat_completions",
            "template", "preprocess",
            "tokenize", "preprocess",
            "generation", "chat_completions",
            "route", "generation",
            "leg", "generation",
            "handle_payload", "leg");
    parents.forEach(
        (child, parent) ->
            assertThat(SpanCollector.parent(named(spans, child)))
                .as("the parent of %s", child)
                .isEqualTo(SpanCollector.id(named(spans, parent))));
    var root = named(spans, "chat_completions");
    assertThat(SpanCollector.parent(root)).isEqualTo(CALLER);
    assertThat(root.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_SERVER);
    assertThat(root.getTraceState()).isEqualTo("rojo=1");
    assertThat(named(spans, "leg").getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_CLIENT);
    assertThat(named(spans, "handle_payload").getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_SERVER);
    spans
        .values()
        .forEach(
            span ->
                assertThat(span.getEndTimeUnixNano())
                    .isGreaterThanOrEqualTo(span.getStartTimeUnixNano()));
  }

  private static void attributesTellWhatWasDone(Map<String, Span> spans) {
    assertThat(SpanCollector.attributes(named(spans, "chat_completions")))
        .containsEntry("dynamo.request_id", "9776aa5a-8c43-4e7c-a4a3-94f1f5404761")
        .containsEntry("gen_ai.request.model", Cluster.MODEL)
        .containsEntry("gen_ai.usage.output_tokens", "4")
        .containsEntry("http.response.status_code", "200");
    assertThat(named(spans, "chat_completions").getEventsList())
        .extracting(Span.Event::getName)
        .containsExactly("first_token");
    assertThat(SpanCollector.attributes(named(spans, "tokenize"))).containsKey("dynamo.tokens");
    assertThat(SpanCollector.attributes(named(spans, "leg")))
        .containsKeys("dynamo.worker_id", "dynamo.dp_rank");
    assertThat(named(spans, "leg").getEventsList())
        .extracting(Span.Event::getName)
        .containsExactly("first_item");
  }

  private static void theWorkerTellsOfItsPart(Map<String, Span> spans) {
    var leg = SpanCollector.attributes(named(spans, "leg"));
    assertThat(SpanCollector.attributes(named(spans, "handle_payload")))
        .containsEntry("dynamo.worker_id", leg.get("dynamo.worker_id"))
        .containsEntry("dynamo.request_id", "9776aa5a-8c43-4e7c-a4a3-94f1f5404761")
        .containsKey("dynamo.endpoint");
    assertThat(named(spans, "handle_payload").getEventsList())
        .extracting(Span.Event::getName)
        .containsExactly("first_item");
  }

  private static void aRefusalIsAFailedSpan(ServerProcess server, SpanCollector collector)
      throws Exception {
    var trace = "1af7651916cd43dd8448eb211c80319c";
    var answer =
        post(
            server,
            ChatClient.body("nobody", "x", 4, false),
            "traceparent",
            "00-" + trace + "-" + CALLER + "-01");
    assertThat(answer.statusCode()).isEqualTo(404);
    Polling.untilAsserted(PATIENCE, () -> assertThat(collector.trace(trace)).hasSize(2));
    var root = named(byName(collector.trace(trace)), "chat_completions");
    assertThat(root.getStatus().getCode()).isEqualTo(Status.StatusCode.STATUS_CODE_ERROR);
    assertThat(SpanCollector.attributes(root)).containsEntry("error.type", "not_found");
  }

  private static void assertUnsampledTraceIsNotExported(
      ServerProcess server, SpanCollector collector) throws Exception {
    var silent = "2af7651916cd43dd8448eb211c80319c";
    var last = "3af7651916cd43dd8448eb211c80319c";
    var body = ChatClient.body(Cluster.MODEL, "Trace this", 1, false);
    post(server, body, "traceparent", "00-" + silent + "-" + CALLER + "-00");
    post(server, body, "traceparent", "00-" + last + "-" + CALLER + "-01");
    Polling.untilAsserted(PATIENCE, () -> assertThat(collector.trace(last)).hasSize(8));
    assertThat(collector.trace(silent)).isEmpty();
  }
}
