package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.openai.ScriptedWorkers.Leg;
import io.dynamo.frontend.watch.RecordingTracing;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.metrics.PrometheusText;
import io.dynamo.trace.TraceContext;
import io.dynamo.trace.Tracing;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The spans of a request, and the trace headers that its workers get. */
class TracedRequestTest {
  private static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private final RecordingTracing tracing = new RecordingTracing();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final ScriptedWorkers workers = new ScriptedWorkers();

  @AfterEach
  void close() {
    timer.shutdownNow();
    assertThat(tracing.all()).as("every span ends").allMatch(span -> span.ended);
  }

  private static List<EngineOutput> says(String text) {
    return text.codePoints().mapToObj(EngineOutput::ofTokens).toList();
  }

  private static void post(FrontendFixture frontend, Map<String, String> headers) {
    frontend.api = TextService.COMPLETIONS;
    frontend.post(
        "{\"model\":\"script\",\"prompt\":\"p\"}".getBytes(StandardCharsets.UTF_8), headers);
  }

  private FrontendFixture traced(Tracing by) {
    var frontend = new FrontendFixture(by);
    frontend.through = workers.dispatcher(frontend.metrics, frontend.stages, timer);
    return frontend;
  }

  @Test
  void aLegThatGoesOnFromALostOneIsLinkedToIt() {
    workers.plays("", new Leg(says("one "), false), new Leg(says("two"), true));
    try (var frontend = traced(tracing)) {
      var text = new PrometheusText();
      frontend.metrics.attach(text);
      post(frontend, Map.of("traceparent", PARENT, "tracestate", "rojo=1"));

      var root = tracing.named("completions").getFirst();
      assertThat(root.parent).isEqualTo(TraceContext.parse(PARENT, "rojo=1"));
      assertThat(root.events).containsExactly("first_token");
      var whole = tracing.named("generation").getFirst();
      assertThat(whole.parent).isEqualTo(root.context());
      assertThat(tracing.named("route"))
          .hasSize(2)
          .allMatch(it -> whole.context().equals(it.parent));
      var legs = tracing.named("leg");
      assertThat(legs).hasSize(2).allMatch(it -> whole.context().equals(it.parent));
      assertThat(legs.getFirst().failure).isEqualTo("disconnected");
      assertThat(legs.getFirst().after).isNull();
      assertThat(legs.getLast().after).isEqualTo(legs.getFirst().context());
      assertThat(legs.getLast().failure).isNull();
      assertThat(workers.headers)
          .extracting(headers -> headers.get("traceparent"))
          .as("each worker gets its own leg")
          .containsExactly(
              legs.getFirst().context().traceparent(), legs.getLast().context().traceparent());
      assertThat(workers.asked.getFirst().passedOn().get("migration_link")).isNull();
      assertThat(workers.asked.getLast().passedOn().get("migration_link"))
          .isEqualTo(
              Map.of(
                  "trace_id",
                  legs.getFirst().context().traceId(),
                  "span_id",
                  legs.getFirst().context().spanId()));
      assertThat(workers.headers).allMatch(headers -> "rojo=1".equals(headers.get("tracestate")));
      assertThat(text.write())
          .contains(
              "dynamo_frontend_model_migration_duration_seconds_count{migration_type=\"ongoing_request\",model=\"script\",outcome=\"success\"}"
                  + " 1\n");
    }
  }

  @Test
  void theEndOfAGenerationEndsItsSpans() {
    try (var frontend = traced(tracing)) {
      post(frontend, Map.of()); // nobody can be connected to
      assertThat(tracing.named("leg")).hasSize(4); // with three migrations
      assertThat(tracing.named("generation").getFirst().failure).isEqualTo("cannot_connect");
      assertThat(tracing.named("completions").getFirst().failure).isEqualTo("unavailable");
    }
  }

  @Test
  void withoutTracingTheCallersContextGoesOnAsItIsAndAMalformedOneDoesNot() {
    try (var frontend = new FrontendFixture()) {
      frontend.items = List.of(EngineOutput.finish(FinishReason.LENGTH, null, 'z'));
      post(frontend, Map.of("traceparent", PARENT, "tracestate", "rojo=1", "x-request-id", "x"));
      assertThat(frontend.contexts.getLast().headers())
          .containsExactlyInAnyOrderEntriesOf(
              Map.of("traceparent", PARENT, "tracestate", "rojo=1", "x-request-id", "x"));
      post(frontend, Map.of("traceparent", PARENT.replace("00-0", "00-X"), "tracestate", "rojo=1"));
      assertThat(frontend.contexts.getLast().headers()).isEmpty();
    }
  }
}
