package io.dynamo.frontend.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.config.RouterSettings.Busy;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.Readiness;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.openai.HostileValues;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.frontend.preprocess.NoText;
import io.dynamo.router.BusyControl;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BusyThresholdServletTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> MODELS =
      List.of("ali-1", "org/aliased", "script", "budget", "x/ready");

  /** The order in which the captures were taken, as far as it matters. */
  private static final List<String> ORDER =
      List.of(
          "get",
          "post_read",
          "post_unknown_read",
          "post_unknown_set",
          "post_set",
          "post_out_of_range",
          "post_frac_neg",
          "post_neg",
          "post_no_model",
          "post_set2",
          "post_null",
          "post_unknown_field",
          "get_after",
          "post_alias_set");

  private static final class Models implements ModelCatalog {
    private final ModelText text = new NoText();

    @Override
    public List<ServedModel> models() {
      return MODELS.stream().map(name -> find(name).orElseThrow()).toList();
    }

    @Override
    public Optional<ServedModel> find(String name) {
      var card = TestCard.named(name).contextLength(1000).build();
      return MODELS.contains(name)
          ? Optional.of(
              new ServedModel(
                  card, new EndpointId("ns", "c" + MODELS.indexOf(name), "generate"), text, 0))
          : Optional.empty();
    }

    @Override
    public boolean isKnown(String name) {
      return MODELS.contains(name);
    }

    @Override
    public Optional<Readiness> readiness(String name) {
      return Optional.empty();
    }
  }

  private static final class Workers implements BusyControl {
    final Map<WorkerSet, Busy> set = new ConcurrentHashMap<>();

    @Override
    public Busy thresholds(WorkerSet workers) {
      return set.getOrDefault(workers, Busy.STANDARD);
    }

    @Override
    public void setThresholds(WorkerSet workers, Busy thresholds) {
      set.put(workers, thresholds);
    }

    @Override
    public boolean allBusy(WorkerSet workers) {
      return false;
    }
  }

  private final Workers workers = new Workers();
  private final Map<String, String> headers = new HashMap<>();
  private int status;
  private final BodyBudget bodies = new BodyBudget(BodyBudget.Limits.ofHeap(1 << 30, 16));
  private BusyThresholdServlet servlet = servlet(true);

  private BusyThresholdServlet servlet(boolean enabled) {
    return new BusyThresholdServlet(enabled, new Models(), workers, bodies, Duration.ofMinutes(1));
  }

  private String ask(String method, @Nullable String contentType, String body) throws IOException {
    status = 200;
    headers.clear();
    var answer = new ByteArrayOutputStream();
    servlet.answer(request(method, contentType, body), response(answer));
    return answer.toString(StandardCharsets.UTF_8);
  }

  private String post(String body) throws IOException {
    return ask("POST", "application/json", body);
  }

  private static HttpServletRequest request(
      String method, @Nullable String contentType, String body) {
    var bytes = new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8));
    var stream =
        new ServletInputStream() {
          @Override
          public boolean isFinished() {
            return bytes.available() == 0;
          }

          @Override
          public boolean isReady() {
            return true;
          }

          @Override
          public void setReadListener(ReadListener listener) {}

          @Override
          public int read() {
            return bytes.read();
          }

          @Override
          public int read(byte[] into, int from, int length) {
            return bytes.read(into, from, length);
          }
        };
    return (HttpServletRequest)
        Proxy.newProxyInstance(
            BusyThresholdServletTest.class.getClassLoader(),
            new Class<?>[] {HttpServletRequest.class},
            (_, called, _) ->
                switch (called.getName()) {
                  case "getMethod" -> method;
                  case "getContentType" -> contentType;
                  case "getRequestURI" -> "/busy_threshold";
                  case "getInputStream" -> stream;
                  case "getContentLengthLong" -> -1L;
                  default -> throw new AssertionError(called.getName());
                });
  }

  private HttpServletResponse response(ByteArrayOutputStream to) {
    var stream =
        new ServletOutputStream() {
          @Override
          public boolean isReady() {
            return true;
          }

          @Override
          public void setWriteListener(WriteListener listener) {}

          @Override
          public void write(int b) {
            to.write(b);
          }
        };
    return (HttpServletResponse)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {HttpServletResponse.class},
            (_, called, arguments) ->
                switch (called.getName()) {
                  case "setStatus" -> {
                    status = (Integer) arguments[0];
                    yield null;
                  }
                  case "setHeader" -> headers.put((String) arguments[0], (String) arguments[1]);
                  case "getOutputStream" -> stream;
                  default -> null;
                });
  }

  @Test
  void answersWhatDynamoWasSeenToAnswer() throws IOException {
    var captures = new HashMap<String, JsonNode>();
    try (var in = getClass().getResourceAsStream("/golden/busy.json")) {
      JSON.readTree(in).forEach(each -> captures.put(each.get("name").textValue(), each));
    }
    assertThat(captures.keySet()).containsExactlyInAnyOrderElementsOf(ORDER);
    for (var name : ORDER) {
      var capture = Objects.requireNonNull(captures.get(name), name);
      var asked = capture.get("request");
      var got =
          ask(asked.get("method").textValue(), "application/json", asked.path("body").toString());
      var expected = capture.get("response");
      assertThat(status).as(name).isEqualTo(expected.get("status").intValue());
      assertThat(JSON.readTree(got)).as(name).isEqualTo(withoutPlace(expected.get("json")));
    }
  }

  /** Where in the text a fault is, only Dynamo's own parser counts in the same way. */
  private static JsonNode withoutPlace(JsonNode body) throws IOException {
    return JSON.readTree(body.toString().replaceFirst(" at line \\d+ column \\d+", ""));
  }

  @Test
  void theFormIsDynamosToTheByte() throws IOException {
    assertThat(post("{\"model\":\"script\",\"active_decode_blocks_threshold\":1}"))
        .isEqualTo(
            "{\"model\":\"script\",\"active_decode_blocks_threshold\":1.0,"
                + "\"active_prefill_tokens_threshold\":null,"
                + "\"active_prefill_tokens_threshold_frac\":null}");
  }

  @Test
  void aThresholdCanBeTurnedOff() throws IOException {
    post(
        "{\"model\":\"script\",\"active_decode_blocks_threshold\":0.5,"
            + "\"active_prefill_tokens_threshold\":7,\"active_prefill_tokens_threshold_frac\":2}");
    assertThat(workers.set.values()).containsExactly(new Busy(0.5, 7L, 2.0));
    post(
        "{\"model\":\"script\",\"active_decode_blocks_threshold\":\"off\","
            + "\"active_prefill_tokens_threshold\":\"off\"}");
    assertThat(workers.set.values()).containsExactly(new Busy(null, null, 2.0));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"model\":5} | 422 | model: invalid type: integer `5`, expected a string",
        "{\"model\":null} | 422 | model: invalid type: null, expected a string",
        "{\"model\":\"script\",\"active_decode_blocks_threshold\":true} | 422 | expected f64",
        "{\"model\":\"script\",\"active_decode_blocks_threshold\":1e999} | 422 | expected f64",
        "{\"model\":\"script\",\"active_decode_blocks_threshold\":\"on\"} | 422 | expected f64",
        "{\"model\":\"script\",\"active_prefill_tokens_threshold\":1.5} | 422 | type: floating",
        "{\"model\":\"script\",\"active_prefill_tokens_threshold\":[]} | 422 | expected u64",
        "{\"model\":\"script\",\"active_prefill_tokens_threshold\":99999999999999999999}"
            + " | 422 | expected u64",
        "{\"model\":\"script\",\"active_decode_blocks_threshold\":-0.1} | 400 | got -0.1",
        "{\"a\": | 400 | Failed to parse the request body as JSON",
        "[] | 400 | Failed to parse the request body as JSON"
      })
  void whatMakesNoSenseIsRefusedByName(String body, int expected, String text) throws IOException {
    assertThat(JSON.readTree(post(body)).get("error").textValue()).contains(text);
    assertThat(status).isEqualTo(expected);
    assertThat(workers.set).isEmpty();
  }

  @Test
  void aNumberBeyondAnyDoubleIsRefusedAndNotSet() throws IOException {
    var body =
        "{\"model\":\"script\",\"active_prefill_tokens_threshold_frac\":" + "9".repeat(400) + "}";
    assertThat(JSON.readTree(post(body)).get("error").textValue()).contains("expected f64");
    assertThat(status).isEqualTo(422);
    assertThat(workers.set).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"model\":%s}",
        "{\"model\":\"script\",\"active_decode_blocks_threshold\":%s}",
        "{\"model\":\"script\",\"active_prefill_tokens_threshold\":%s}",
        "{\"model\":\"script\",\"active_prefill_tokens_threshold_frac\":%s}",
        "{\"model\":\"script\",\"unheard_of\":%s}",
        "{%s:1}",
        "%s"
      })
  void anyValueIsTakenOrRefusedInShort(String shape) throws IOException {
    for (var value : HostileValues.ALL) {
      var shown = value.length() > 40 ? value.substring(0, 40) + "…" : value;
      var told = post(shape.replace("%s", value));
      assertThat(status).as(shown).isIn(200, 400, 404, 413, 422);
      assertThat(told.length()).as(shown).isLessThan(2048);
      var json = JSON.readTree(told);
      assertThat(status == 200 || json.get("error").isTextual()).as(shown).isTrue();
      for (var set : workers.set.values()) {
        var fraction = set.prefillTokensFraction();
        assertThat(fraction == null || Double.isFinite(fraction)).as(shown).isTrue();
      }
    }
  }

  @Test
  void onlyJsonOfABoundedLengthIsTaken() throws IOException {
    for (var type : List.of("text/plain", "")) {
      assertThat(ask("POST", type, "{}")).contains("Expected request with `Content-Type");
      assertThat(status).isEqualTo(415);
    }
    assertThat(ask("POST", null, "{}")).contains("error");
    assertThat(status).isEqualTo(415);
    post(" ".repeat(70_000));
    assertThat(status).isEqualTo(413);
  }

  @Test
  void otherMethodsAreToldWhichThereAre() throws IOException {
    ask("PUT", "application/json", "{}");
    assertThat(status).isEqualTo(405);
    assertThat(headers).containsEntry("Allow", "POST,GET,HEAD");
  }

  @Test
  void itIsNotThereWhenTheOperatorSaysSo() throws IOException {
    servlet = servlet(false);
    assertThat(ask("GET", null, "")).contains("Route not found: GET /busy_threshold");
    assertThat(status).isEqualTo(404);
  }

  @Test
  void aBodyThatDoesNotArriveInTimeIs408() throws IOException {
    servlet = new BusyThresholdServlet(true, new Models(), workers, bodies, Duration.ofNanos(1));
    post("{\"model\":\"script\"}");
    assertThat(status).isEqualTo(408);
    assertThat(bodies.heldBytes()).isZero();
  }
}
