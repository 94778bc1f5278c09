package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.error.CancelledException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.OverloadedException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.metrics.PrometheusText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A request of each kind moves the same counters as at Dynamo. */
class CountingGoldenTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> COUNTERS =
      List.of("failures_total", "requests_started_total", "requests_total");

  private final FrontendFixture frontend = new FrontendFixture();
  private final PrometheusText text = new PrometheusText();

  @BeforeEach
  void attach() {
    frontend.metrics.attach(text);
    frontend.items = List.of(new EngineOutput(new int[1], "Hi", FinishReason.EOS, null, 0, null));
  }

  @AfterEach
  void close() {
    frontend.close();
  }

  private static byte[] body(String more) {
    return ("{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
            + more
            + "}")
        .getBytes(StandardCharsets.UTF_8);
  }

  private void drive(String name) {
    var headers = Map.<String, String>of();
    byte[] body = body(name.startsWith("stream_") ? ",\"stream\":true" : "");
    switch (name) {
      case "ok" -> {}
      case "parse_error" -> body = "{".getBytes(StandardCharsets.UTF_8);
      case "wrong_type" -> body = "{\"model\":3,\"messages\":[]}".getBytes(StandardCharsets.UTF_8);
      case "415" -> headers = Map.of("content-type", "text/plain");
      case "range" -> body = body(",\"temperature\":9");
      case "unknown_model" ->
          body =
              "{\"model\":\"nobody\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"
                  .getBytes(StandardCharsets.UTF_8);
      case "meta_431" -> {
        var many = new TreeMap<String, String>();
        for (int i = 0; i < 65; i++) {
          many.put("x-dynamo-meta-" + i, "v");
        }
        headers = many;
      }
      case "worker_400", "stream_worker_400_first" -> {
        frontend.items = List.of();
        frontend.failure = new InvalidRequestException("no");
      }
      case "worker_500" -> {
        frontend.items = List.of();
        frontend.failure = new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "broken", null);
      }
      case "worker_503" -> {
        frontend.items = List.of();
        frontend.failure = new NoWorkerException("dynamo/script/generate", 0, 0);
      }
      case "worker_529" -> {
        frontend.items = List.of();
        frontend.failure = new OverloadedException("full");
      }
      case "worker_cancelled" -> {
        frontend.items = List.of();
        frontend.failure = new CancelledException("over there");
      }
      case "finish_error" ->
          frontend.items = List.of(EngineOutput.finish(FinishReason.ERROR, null));
      default -> throw new AssertionError("no request for " + name);
    }
    frontend.post(body, headers);
  }

  private Map<String, Double> counted() {
    return text.write()
        .lines()
        .filter(
            line ->
                COUNTERS.stream().anyMatch(it -> line.startsWith("dynamo_frontend_" + it + "{")))
        .map(line -> line.substring("dynamo_frontend_".length()))
        .collect(
            Collectors.toMap(
                line -> line.substring(0, line.lastIndexOf(' ')),
                line -> Double.valueOf(line.substring(line.lastIndexOf(' ') + 1))));
  }

  private static Map<String, Double> captured(String name) throws IOException {
    try (var in = CountingGoldenTest.class.getResourceAsStream("/golden/metrics-counting.json")) {
      var moved = new TreeMap<String, Double>();
      JsonNode all = JSON.readTree(in).get(0).get("cases").get(name).get("moved");
      all.properties().forEach(it -> moved.put(it.getKey(), it.getValue().doubleValue()));
      return moved;
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ok",
        "range",
        "unknown_model",
        "worker_400",
        "worker_500",
        "worker_503",
        "worker_529",
        "worker_cancelled",
        "stream_worker_400_first",
        "finish_error"
      })
  void aRequestMovesTheSameCountersAsAtDynamo(String name) throws IOException {
    drive(name);
    assertThat(counted()).isEqualTo(captured(name));
  }

  /** Dynamo counts these as failures only; here each request is counted once as such, too. */
  @ParameterizedTest
  @ValueSource(strings = {"parse_error", "wrong_type", "415", "meta_431"})
  void anUnreadableRequestCountsUnderNoModel(String name) throws IOException {
    drive(name);
    var counted = new TreeMap<>(counted());
    assertThat(
            counted.remove(
                "requests_started_total{endpoint=\"chat_completions\",model=\"unknown_model\",request_type=\"unary\"}"))
        .isEqualTo(1);
    assertThat(
            counted.remove(
                "requests_total{endpoint=\"chat_completions\",error_type=\"validation\",model=\"unknown_model\",request_type=\"unary\",status=\"error\"}"))
        .isEqualTo(1);
    assertThat(counted).isEqualTo(captured(name));
  }

  @Test
  void tokensOfEachChoiceAreMeasuredAgainstThoseBeforeThemInTheSameChoice() {
    frontend.items =
        List.of(
            new EngineOutput(new int[1], "a", null, null, 0, null),
            new EngineOutput(new int[2], "bc", null, null, 0, null),
            new EngineOutput(new int[1], "d", FinishReason.EOS, null, 0, null));
    frontend.post(body(",\"n\":3"), Map.of());
    assertThat(value("dynamo_frontend_inter_token_latency_seconds_count"))
        .as("three choices of one first token and three more")
        .isEqualTo(9);
    assertThat(value("dynamo_frontend_time_to_first_token_seconds_count")).isOne();
    assertThat(value("dynamo_frontend_output_tokens_total")).isEqualTo(12);
    assertThat(value("dynamo_frontend_output_sequence_tokens_sum")).isEqualTo(12);
    assertThat(value("dynamo_frontend_input_sequence_tokens_sum")).isEqualTo(5);
  }

  @Test
  void stagesOfARequestAreMeasured() {
    frontend.post(body(""), Map.of());
    assertThat(value("dynamo_frontend_template_seconds_count")).isOne();
    assertThat(value("dynamo_frontend_tokenize_seconds_count")).isOne();
    assertThat(value("dynamo_frontend_detokenize_token_count")).isOne();
    assertThat(text.write())
        .contains("dynamo_frontend_stage_duration_seconds_count{stage=\"preprocess\"} 1\n")
        .contains("dynamo_frontend_stage_requests{phase=\"\",stage=\"preprocess\"} 0\n")
        .contains("dynamo_frontend_tokenizer_latency_ms_count{operation=\"tokenize\"} 1\n")
        .contains("dynamo_frontend_tokenizer_latency_ms_count{operation=\"detokenize\"} 1\n");
  }

  private double value(String name) {
    return text.write()
        .lines()
        .filter(line -> line.matches(name + "(\\{.*})? .*"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }
}
