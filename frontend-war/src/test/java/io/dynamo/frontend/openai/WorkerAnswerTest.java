package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.inference.Annotation;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.metrics.Label;
import io.dynamo.wire.request.DynamoError;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Errors and annotations of workers, and streams that end without a finish reason, as clients get
 * them.
 */
class WorkerAnswerTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String END = "data: [DONE]\n\n";

  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  private static String hi(String more) {
    return "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
        + more
        + "}";
  }

  private static List<EngineOutput> says(String text) {
    return text.codePoints().mapToObj(EngineOutput::ofTokens).toList();
  }

  private static List<EngineOutput> with(List<EngineOutput> items, EngineOutput... more) {
    return Stream.concat(items.stream(), Stream.of(more)).toList();
  }

  /** An error as Dynamo's workers write it for an exception with a status. */
  private void fails(String type, String errorClass, int code) {
    var message = "{\"message\":\"own words\",\"code\":%d}".formatted(code);
    frontend.failure =
        new DynamoError(
                ErrorCode.ofWire(type, false), errorClass, "any", message, message, null, null)
            .toException();
  }

  @ParameterizedTest
  @CsvSource({
    "400, InvalidArgument, InvalidRequest, 400, own words, invalid_request_error, validation",
    "401, Unknown, Unauthenticated, 401, own words, authentication_error, validation",
    "403, Unknown, PermissionDenied, 403, own words, permission_error, validation",
    "404, Unknown, NotFound, 404, own words, not_found_error, not_found",
    "409, Unknown, Conflict, 409, own words, invalid_request_error, validation",
    "413, InvalidArgument, PayloadTooLarge, 413, own words, invalid_request_error, validation",
    "415, InvalidArgument, UnsupportedMedia, 415, own words, invalid_request_error, validation",
    "422, InvalidArgument, InvalidRequest, 400, own words, invalid_request_error, validation",
    "429, ResourceExhausted, RateLimited, 429, own words, rate_limit_error, overload",
    "500, Unknown, Internal, 500, Internal server error, internal_server_error, internal",
    "501, Unknown, NotImplemented, 501, Operation not implemented, not_implemented_error,"
        + " not_implemented",
    "502, Unknown, BackendProtocol, 502, Bad gateway, internal_server_error, internal",
    "503, Unavailable, Unavailable, 503, Service temporarily unavailable, service_unavailable,"
        + " unavailable",
    "504, ResponseTimeout, DeadlineExceeded, 504, Request deadline exceeded, timeout_error,"
        + " response_timeout",
    "529, ResourceExhausted, CapacityExhausted, 529, Service temporarily overloaded,"
        + " service_unavailable, overload"
  })
  void aWorkersStatusAndItsWordsOnTheClientsFaultAreAnswered(
      int code,
      String type,
      String errorClass,
      int status,
      String text,
      String frame,
      String counted)
      throws Exception {
    fails(type, errorClass, code);
    var whole = frontend.post(hi(""));
    assertThat(whole.status).isEqualTo(status);
    var body = JSON.readTree(whole.text());
    assertThat(body.at("/error/message").asText()).isEqualTo(text);
    assertThat(body.at("/message").asText()).isEqualTo(text);
    assertThat(body.at("/code").asInt()).isEqualTo(status);

    frontend.items = says("Hi");
    assertThat(frontend.post(hi(",\"stream\":true")).text())
        .contains("\"content\":\"H\"")
        .endsWith(
            "data: {\"error\":{\"message\":\"%s\",\"type\":\"%s\",\"code\":%d}}\n\n"
                    .formatted(text, frame, status)
                + END);
    assertThat(requests("unary", "error", counted)).isEqualTo(1);
    assertThat(requests("stream", "error", counted)).isEqualTo(1);
  }

  private long requests(String type, String status, String error) {
    return frontend
        .metrics
        .counter(
            FrontendMetrics.REQUESTS,
            new Label("model", "script"),
            new Label("endpoint", "chat_completions"),
            new Label("request_type", type),
            new Label("status", status),
            new Label("error_type", error))
        .value();
  }

  @Test
  void aRateLimitHasTheFormThatSdksExpect() throws Exception {
    fails("ResourceExhausted", "RateLimited", 429);
    var answer = frontend.post(hi(""));
    assertThat(answer.text())
        .startsWith(
            "{\"error\":{\"message\":\"own words\",\"type\":\"rate_limit_error\","
                + "\"code\":\"rate_limit_exceeded\"")
        .contains("\"type\":\"Too Many Requests\",\"code\":429");
  }

  @Test
  void aWorkerThatWasTooSlowFor408IsATimeoutInAFrame() {
    fails("ResponseTimeout", "DeadlineExceeded", 408);
    assertThat(frontend.post(hi("")).status).isEqualTo(408);
    frontend.items = says("Hi");
    assertThat(frontend.post(hi(",\"stream\":true")).text())
        .contains("Request deadline exceeded\",\"type\":\"timeout_error\",\"code\":504}}")
        .doesNotContain("own words");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"stop\":\"STOP\""})
  void aStreamThatEndsWithoutAReasonIsAnAnswerWithoutOne(String more) throws Exception {
    var text = "say STO";
    frontend.items = says(text);
    var whole = frontend.post(hi(more));
    assertThat(whole.status).isEqualTo(200);
    var body = JSON.readTree(whole.text());
    assertThat(body.at("/choices/0/message/content").asText()).isEqualTo(text);
    assertThat(body.at("/choices/0/finish_reason").isNull()).isTrue();
    assertThat(body.has("usage")).isFalse();

    var options = ",\"stream\":true,\"stream_options\":{\"include_usage\":true}";
    var sse = frontend.post(hi(options + more)).text();
    assertThat(content(sse)).isEqualTo(text);
    assertThat(sse).doesNotContain("error", "usage", "\"finish_reason\":\"").endsWith(END);
    assertThat(requests("unary", "success", "")).isEqualTo(1);
    assertThat(requests("stream", "success", "")).isEqualTo(1);
  }

  @Test
  void aStreamOfNothingIsAnEmptyAnswer() throws Exception {
    var whole = frontend.post(hi(""));
    assertThat(whole.status).isEqualTo(200);
    var choice = JSON.readTree(whole.text()).at("/choices/0");
    assertThat(choice.at("/message/content").isNull()).isTrue();
    assertThat(choice.path("finish_reason").isNull()).isTrue();
    assertThat(frontend.post(hi(",\"stream\":true")).text()).isEqualTo(END);
  }

  private static String content(String sse) throws Exception {
    var text = new StringBuilder();
    for (var line : sse.lines().toList()) {
      if (line.startsWith("data: {")) {
        var delta = JSON.readTree(line.substring(6)).at("/choices/0/delta/content");
        text.append(delta.asText(""));
      }
    }
    return text.toString();
  }

  @ParameterizedTest
  @CsvSource({"chat", "completions"})
  void aWorkersAnnotationsStandBetweenTheChunks(String api) throws Exception {
    var note = EngineOutput.annotated(new Annotation("note", List.of("one", "{\"a\":\"é\"}")));
    var bare = EngineOutput.annotated(new Annotation("bare", List.of()));
    var items = new ArrayList<>(List.of(note));
    items.addAll(says("a"));
    items.add(bare);
    items.addAll(with(says("b"), EngineOutput.finish(FinishReason.STOP, null)));
    frontend.items = items;
    frontend.api = api.equals("chat") ? TextService.CHAT : TextService.COMPLETIONS;
    var body = api.equals("chat") ? hi("") : "{\"model\":\"script\",\"prompt\":\"hi\"}";
    var sse = frontend.post(body.replaceFirst("}$", ",\"stream\":true}")).text();
    assertThat(sse)
        .startsWith("event: note\n: one\n: {\"a\":\"é\"}\n\ndata: {")
        .contains("\n\nevent: bare\n\ndata: {")
        .endsWith(END);
    assertThat(sse.indexOf("event: bare"))
        .isBetween(sse.indexOf("\"a\""), sse.lastIndexOf("\"b\""));

    var whole = frontend.post(body);
    assertThat(whole.status).isEqualTo(200);
    assertThat(whole.text()).contains("\"ab\"").doesNotContain("note", "bare");
  }

  @Test
  void anAnnotationEndsNoFrameButItsOwn() {
    frontend.items =
        with(
            List.of(
                EngineOutput.annotated(
                    new Annotation("a\r\ndata: x", List.of("b\n\ndata: y", "c\rdata: z")))),
            EngineOutput.finish(FinishReason.STOP, null));
    assertThat(frontend.post(hi(",\"stream\":true")).text())
        .startsWith("event: a data: x\n: b\n: \n: data: y\n: c\n: data: z\n\ndata: {");
  }
}
