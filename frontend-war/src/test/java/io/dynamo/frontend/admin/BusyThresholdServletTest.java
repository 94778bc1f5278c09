package io.dynamo.frontend.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.config.router.RouterSettings.Busy;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.frontend.FakeExchange;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.Readiness;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.openai.HostileValues;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.frontend.preprocess.NoText;
import io.dynamo.router.BusyControl;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BusyThresholdServletTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> MODELS =
      List.of("ali-1", "org/aliased", "script", "budget", "x/ready");

  /** The order in which the captures were taken, where it matters. */
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
    public List<ServedModel> sets(String name) {
      return find(name).stream().toList();
    }

    @Override
    public Optional<ServedModel> choose(String name, Query query) {
      return find(name).filter(model -> query.takes(model.card()));
    }

    @Override
    public List<ServedModel> successors(ServedModel lost) {
      return List.of();
    }

    @Override
    public boolean isKnown(String name) {
      return MODELS.contains(name);
    }

    @Override
    public SequencedMap<String, Set<String>> waiting() {
      return new TreeMap<>();
    }

    @Override
    public Optional<Readiness> readiness(String name) {
      return Optional.empty();
    }
  }

  private static final class Workers implements BusyControl {
    final Map<WorkerSet, Busy> set = new ConcurrentHashMap<>();
    boolean storeIsAway;

    @Override
    public Busy thresholds(WorkerSet workers) {
      return set.getOrDefault(workers, Busy.STANDARD);
    }

    @Override
    public Busy changeThresholds(WorkerSet workers, UnaryOperator<Busy> change) {
      if (storeIsAway) {
        throw new UncheckedIOException(new IOException("etcd did not answer"));
      }
      var now = change.apply(thresholds(workers));
      set.put(workers, now);
      return now;
    }

    @Override
    public boolean allBusy(WorkerSet workers) {
      return false;
    }
  }

  private final Workers workers = new Workers();
  private FakeExchange exchange = new FakeExchange("GET", "/busy_threshold");
  private final BodyBudget bodies = new BodyBudget(BodyBudget.Limits.ofHeap(1 << 30, 16));
  private BusyThresholdServlet servlet = servlet(true);

  private BusyThresholdServlet servlet(boolean enabled) {
    return new BusyThresholdServlet(enabled, new Models(), workers, bodies, Duration.ofMinutes(1));
  }

  private String ask(String method, @Nullable String contentType, String body) throws IOException {
    exchange = new FakeExchange(method, "/busy_threshold").withBody(contentType, body);
    servlet.answer(exchange.request(), exchange.response());
    return exchange.text();
  }

  private String post(String body) throws IOException {
    return ask("POST", "application/json", body);
  }

  @Test
  void answersEqualTheCapturedOnesOfDynamo() throws IOException {
    var captures = new HashMap<String, JsonNode>();
    try (var in = getClass().getResourceAsStream("/golden/busy.json")) {
      JSON.readTree(in).forEach(each -> captures.put(each.get("name").textValue(), each));
    }
    assertThat(captures.keySet()).containsExactlyInAnyOrderElementsOf(ORDER);
    for (var name : ORDER) {
      var capture = Objects.requireNonNull(captures.get(name), name);
      var request = capture.get("request");
      var got =
          ask(
              request.get("method").textValue(),
              "application/json",
              request.path("body").toString());
      var expected = capture.get("response");
      assertThat(exchange.status()).as(name).isEqualTo(expected.get("status").intValue());
      assertThat(JSON.readTree(got)).as(name).isEqualTo(withoutPlace(expected.get("json")));
    }
  }

  /** Removes the line and column of a fault, which Dynamo's parser counts differently. */
  private static JsonNode withoutPlace(JsonNode body) throws IOException {
    return JSON.readTree(body.toString().replaceFirst(" at line \\d+ column \\d+", ""));
  }

  @Test
  void theAnswerEqualsDynamosByteForByte() throws IOException {
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
  void invalidValuesAreRefusedByName(String body, int expected, String text) throws IOException {
    assertThat(JSON.readTree(post(body)).get("error").textValue()).contains(text);
    assertThat(exchange.status()).isEqualTo(expected);
    assertThat(workers.set).isEmpty();
  }

  @Test
  void aNumberBeyondAnyDoubleIsRefusedAndNotSet() throws IOException {
    var body =
        "{\"model\":\"script\",\"active_prefill_tokens_threshold_frac\":" + "9".repeat(400) + "}";
    assertThat(JSON.readTree(post(body)).get("error").textValue()).contains("expected f64");
    assertThat(exchange.status()).isEqualTo(422);
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
  void anyValueIsAcceptedOrRefusedBriefly(String shape) throws IOException {
    for (var value : HostileValues.ALL) {
      var shown = value.length() > 40 ? value.substring(0, 40) + "…" : value;
      var answer = post(shape.replace("%s", value));
      assertThat(exchange.status()).as(shown).isIn(200, 400, 404, 413, 422);
      assertThat(answer.length()).as(shown).isLessThan(2048);
      var json = JSON.readTree(answer);
      assertThat(exchange.status() == 200 || json.get("error").isTextual()).as(shown).isTrue();
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
      assertThat(exchange.status()).isEqualTo(415);
    }
    assertThat(ask("POST", null, "{}")).contains("error");
    assertThat(exchange.status()).isEqualTo(415);
    post(" ".repeat(70_000));
    assertThat(exchange.status()).isEqualTo(413);
  }

  @Test
  void otherMethodsAreAnsweredWithTheAllowedOnes() throws IOException {
    ask("PUT", "application/json", "{}");
    assertThat(exchange.status()).isEqualTo(405);
    assertThat(exchange.headers()).containsEntry("Allow", "POST,GET,HEAD");
  }

  @Test
  void theRouteIsAbsentWhenItIsSwitchedOff() throws IOException {
    servlet = servlet(false);
    assertThat(ask("GET", null, "")).contains("Route not found: GET /busy_threshold");
    assertThat(exchange.status()).isEqualTo(404);
  }

  @Test
  void aBodyThatDoesNotArriveInTimeIs408() throws IOException {
    servlet = new BusyThresholdServlet(true, new Models(), workers, bodies, Duration.ofNanos(1));
    post("{\"model\":\"script\"}");
    assertThat(exchange.status()).isEqualTo(408);
    assertThat(bodies.heldBytes()).isZero();
  }

  @Test
  void aStoreThatTakesNoChangeIsReported() throws IOException {
    workers.storeIsAway = true;
    assertThat(post("{\"model\":\"script\",\"active_prefill_tokens_threshold\":5}"))
        .contains("The thresholds were not changed everywhere", "etcd did not answer");
    assertThat(exchange.status()).isEqualTo(503);
    assertThat(workers.set).isEmpty();
  }
}
