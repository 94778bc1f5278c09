package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.frontend.FrontendAdmission;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.openai.FrontendFixture.Recorded;
import io.dynamo.frontend.openai.ScriptedWorkers.Leg;
import io.dynamo.frontend.sse.FakeHangUps;
import io.dynamo.frontend.watch.RecordingTracing;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.metrics.PrometheusText;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No text of a client, a model or an engine is in a log, a span, a metric or a flight recording,
 * however a request ends. Only {@code x-request-id} is: it is there to be found again.
 */
@Timeout(120)
class NothingIsOverheardTest {
  private static final String WRITTEN = "xyzzyWritten42"; // a name too, where names are checked
  private static final String SAID = "plughSaid43";
  private static final Duration LONG = Duration.ofSeconds(30);

  private static final String MESSAGES =
      "{\"model\":\"script\",\"max_tokens\":50,\"messages\":[{\"role\":\"user\",\"content\":\"@\"}]%s}";
  private static final String CHAT =
      """
      {"model":"script","messages":[
        {"role":"system","name":"@","content":"@"},
        {"role":"user","content":[{"type":"text","text":"@"}]},
        {"role":"assistant","content":"@","reasoning_content":"@","tool_calls":[
          {"id":"@","type":"function","function":{"name":"@","arguments":"{\\"@\\":\\"@\\"}"}}]},
        {"role":"tool","tool_call_id":"@","content":"@"}],
       "tools":[{"type":"function","function":{"name":"@","description":"@",
         "parameters":{"type":"object","description":"@","properties":{"@":{"type":"string"}}}}}],
       "stop":["@"],"user":"@","metadata":{"@":"@"},"chat_template_args":{"@":"@"},
       "prompt_cache_key":"@","cache_salt":"@","guided_decoding_backend":"@",
       "nvext":{"annotations":["@"],"extra_fields":["@"],"cache_salt":"@"}%s}
      """;
  private static final String COMPLETION =
      """
      {"model":"script","prompt":"@","suffix":null,"stop":["@"],"user":"@","metadata":{"@":"@"},
       "cache_salt":"@","nvext":{"annotations":["@"],"extra_fields":["@"]}%s}
      """;

  private static final Map<String, String> HEADERS =
      Map.ofEntries(
          Map.entry("x-dynamo-meta-note", WRITTEN),
          Map.entry("x-dynamo-meta-" + WRITTEN.toLowerCase(Locale.ROOT), WRITTEN),
          Map.entry("x-tenant-id", WRITTEN),
          Map.entry("x-dynamo-session-id", WRITTEN),
          Map.entry("x-dynamo-parent-session-id", WRITTEN),
          Map.entry("x-dynamo-request-id", WRITTEN),
          Map.entry("x-dynamo-request-priority", WRITTEN),
          Map.entry("x-codex-turn-metadata", "{\"request_kind\":\"" + WRITTEN + "\"}"),
          Map.entry("user-agent", WRITTEN),
          Map.entry("authorization", "Bearer " + WRITTEN),
          Map.entry("traceparent", "00-" + WRITTEN + "-01"),
          Map.entry("tracestate", "a=" + WRITTEN));

  private static final Recording FLIGHT = new Recording();

  private final Logger root = Logger.getLogger("");
  private final Logger ours = Logger.getLogger("io.dynamo"); // kept: the manager forgets
  private final List<String> lines = new ArrayList<>(); // guarded by itself
  private final RecordingTracing tracing = new RecordingTracing();
  private final PrometheusText metrics = new PrometheusText();
  private final Handler handler =
      new Handler() {
        private final SimpleFormatter formatter = new SimpleFormatter();

        @Override
        public void publish(LogRecord record) {
          var text = new StringWriter();
          text.append(formatter.formatMessage(record));
          if (record.getThrown() != null) {
            record.getThrown().printStackTrace(new PrintWriter(text, true));
          }
          synchronized (lines) {
            lines.add(text.toString());
          }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeAll
  static void record() {
    FLIGHT.enable("io.dynamo.frontend.Request");
    FLIGHT.enable("io.dynamo.frontend.Stage");
    FLIGHT.start();
  }

  @AfterAll
  static void nothingIsInTheRecording(@TempDir Path folder) throws IOException {
    FLIGHT.stop();
    var file = folder.resolve("flight.jfr");
    FLIGHT.dump(file);
    FLIGHT.close();
    var events = RecordingFile.readAllEvents(file);
    assertThat(events).hasSizeGreaterThan(20);
    assertThat(events.toString()).doesNotContain(WRITTEN, SAID);
  }

  @BeforeEach
  void listen() {
    handler.setLevel(Level.ALL);
    ours.setLevel(Level.ALL);
    root.addHandler(handler);
  }

  @AfterEach
  void stopListening() {
    root.removeHandler(handler);
    ours.setLevel(null);
  }

  private FrontendFixture frontend(Duration timeout) {
    var frontend =
        new FrontendFixture(
            timeout,
            FakeHangUps.unwatched(),
            1 << 16,
            FrontendAdmission.STANDARD,
            Runnable::run,
            FrontendFixture.NO_RULES,
            tracing,
            FrontendFixture.NOT_STORED);
    frontend.metrics.attach(metrics);
    return frontend;
  }

  private static String body(Api api, String more) {
    var body = api.equals(TextService.COMPLETIONS) ? COMPLETION : CHAT;
    if (api.equals(TextService.MESSAGES)) {
      body = MESSAGES;
    }
    if (api.equals(TextService.RESPONSES)) {
      body = "{\"model\":\"script\",\"input\":\"@\",\"instructions\":\"@\"%s}";
    }
    return body.formatted(more).replace("@", WRITTEN);
  }

  /** Sends to all APIs, for a whole answer and for a stream. */
  private void sendAll(FrontendFixture frontend, int expected) {
    for (var api :
        List.of(
            TextService.CHAT,
            TextService.COMPLETIONS,
            TextService.MESSAGES,
            TextService.RESPONSES)) {
      for (var more : List.of("", ",\"stream\":true")) {
        send(frontend, api, body(api, more), expected);
      }
    }
  }

  private void send(FrontendFixture frontend, Api api, String body, int expected) {
    frontend.api = api;
    var answer = new Recorded();
    try {
      frontend.post(body.getBytes(StandardCharsets.UTF_8), HEADERS, answer);
    } catch (ApiException e) {
      answer.error(e.error());
    }
    assertThat(answer.status).as(answer.text()).isEqualTo(expected);
    overhearNothing(answer);
  }

  private void overhearNothing(Recorded answer) {
    List<String> heard;
    synchronized (lines) {
      heard = List.copyOf(lines);
      lines.clear();
    }
    assertThat(heard).as("the request's line").anyMatch(it -> it.contains("request_id="));
    assertThat(String.join("\n", heard))
        .as("log after %s", answer.status)
        .doesNotContainIgnoringCase(WRITTEN)
        .doesNotContain(SAID);
    var spans = new StringBuilder();
    for (var span : tracing.all()) {
      spans.append(span.name).append(span.attributes).append(span.events).append(span.failure);
    }
    assertThat(spans.toString())
        .contains("dynamo.request_id")
        .doesNotContainIgnoringCase(WRITTEN)
        .doesNotContain(SAID);
    assertThat(metrics.write())
        .contains("dynamo_frontend_requests_total{")
        .doesNotContainIgnoringCase(WRITTEN)
        .doesNotContain(SAID);
  }

  private static EngineOutput said(@Nullable FinishReason finish) {
    return new EngineOutput(new int[1], SAID, finish, null, 0, null);
  }

  @Test
  void ofAnAnswer() {
    try (var frontend = frontend(LONG)) {
      frontend.items = List.of(said(null), said(FinishReason.EOS));
      sendAll(frontend, 200);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"@\"}],\"user\":@}",
        "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"@",
        "{\"@\":1,\"@\":2}",
        "{\"model\":\"script\",\"messages\":\"@\"}",
        "{\"model\":\"script\",\"messages\":[{\"role\":\"@\",\"content\":\"@\"}]}",
        "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"@\"}],\"@\":\"@\"}",
        "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"@\"}],"
            + "\"temperature\":\"@\"}",
        "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"@\"}],"
            + "\"nvext\":{\"@\":\"@\"}}",
        "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"@\"}],"
            + "\"response_format\":{\"type\":\"@\"}}",
        "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"@\"}],"
            + "\"tools\":[{\"type\":\"@\"}]}",
        "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"\\ud800@\"}]}"
      })
  void ofARequestThatIsNone(String body) {
    try (var frontend = frontend(LONG)) {
      send(frontend, TextService.CHAT, body.replace("@", WRITTEN), 400);
      send(frontend, TextService.COMPLETIONS, body.replace("@", WRITTEN), 400);
    }
  }

  @Test
  void ofAModelThatIsNone() {
    try (var frontend = frontend(LONG)) {
      for (var api :
          List.of(
              TextService.CHAT,
              TextService.COMPLETIONS,
              TextService.MESSAGES,
              TextService.RESPONSES)) {
        send(frontend, api, body(api, "").replace("\"script\"", "\"" + WRITTEN + "\""), 404);
      }
    }
  }

  @Test
  void ofARequestThatIsNotLetIn() throws Exception {
    try (var frontend = frontend(LONG)) {
      assertThat(frontend.admission.drain(Duration.ZERO)).isZero();
      sendAll(frontend, 503);
    }
  }

  @Test
  void ofARequestThatTheTemplateRefuses() {
    try (var frontend = frontend(LONG)) {
      frontend.templateFault = new InvalidRequestException("raised: " + WRITTEN);
      sendAll(frontend, TextService.CHAT, 400);
    }
  }

  private void sendAll(FrontendFixture frontend, Api api, int expected) {
    for (var more : List.of("", ",\"stream\":true")) {
      send(frontend, api, body(api, more), expected);
    }
  }

  @Test
  void ofATemplateOrATokenizerThatFails() {
    var cause = new IllegalArgumentException("in " + WRITTEN);
    cause.addSuppressed(new IllegalStateException(WRITTEN));
    try (var frontend = frontend(LONG)) {
      frontend.templateFault = new IllegalStateException("cannot render " + WRITTEN, cause);
      sendAll(frontend, TextService.CHAT, 500);
      frontend.templateFault = null;
      frontend.tokenizerFault = new IllegalStateException("cannot encode " + WRITTEN, cause);
      sendAll(frontend, 500);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"BACKEND_UNKNOWN", "UNKNOWN", "BACKEND_INVALID_ARGUMENT"})
  void ofAnEngineThatFailsAndSaysWhy(String code) {
    var text = "cannot serve '" + WRITTEN + "' after '" + SAID + "'";
    try (var frontend = frontend(LONG)) {
      frontend.failure =
          new EngineFailedException(ErrorCode.valueOf(code), text, new IllegalStateException(text));
      sendAll(frontend, ErrorCode.valueOf(code).httpStatus());
      frontend.failure = null;
      frontend.items =
          List.of(new EngineOutput(new int[0], null, FinishReason.ERROR, text, 0, null));
      sendAll(frontend, 500);
      frontend.items = List.of(said(null), frontend.items.getFirst());
      send(frontend, TextService.CHAT, body(TextService.CHAT, ",\"stream\":true"), 200);
    }
  }

  @Test
  void ofAWorkerThatIsLost() {
    try (var frontend = frontend(LONG)) {
      frontend.failure = new WorkerLostException(ErrorCode.DISCONNECTED, "amid " + WRITTEN + SAID);
      sendAll(frontend, 503);
    }
  }

  @Test
  void ofARequestThatIsLate() {
    try (var frontend = frontend(Duration.ofMillis(1500))) {
      frontend.endless = true;
      send(frontend, TextService.CHAT, body(TextService.CHAT, ""), 504);
      send(frontend, TextService.COMPLETIONS, body(TextService.COMPLETIONS, ""), 504);
    }
  }

  @Test
  void ofAGenerationThatMoves() {
    var workers = new ScriptedWorkers();
    var timer = Executors.newSingleThreadScheduledExecutor();
    try (var frontend = frontend(LONG)) {
      frontend.through = workers.dispatcher(frontend.metrics, frontend.stages, timer);
      var part = SAID.codePoints().mapToObj(EngineOutput::ofTokens).toList();
      for (var api :
          List.of(
              TextService.CHAT,
              TextService.COMPLETIONS,
              TextService.MESSAGES,
              TextService.RESPONSES)) {
        workers.plays("", new Leg(part, false), new Leg(part, false), new Leg(part, true));
        send(frontend, api, body(api, ",\"stream\":true"), 200);
      }
      workers.plays("", new Leg(part, false));
      send(frontend, TextService.CHAT, body(TextService.CHAT, ""), 503); // nobody is left
      assertThat(workers.asked).hasSizeGreaterThan(6);
      assertThat(Objects.requireNonNull(frontend.prompt).messages()).isNotEmpty();
    } finally {
      timer.shutdownNow();
    }
  }
}
