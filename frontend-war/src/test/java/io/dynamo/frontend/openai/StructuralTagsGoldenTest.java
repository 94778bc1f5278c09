package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.GuidedDecoding;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The forms to which Dynamo 1.6.1 has workers hold tool calls, by card and request. */
final class StructuralTagsGoldenTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final JsonNode SEEN = read();

  /**
   * Calls that are forced behind a prompt without an open thought: Dynamo's tag demands the end of
   * one, because models of that reasoning parser always think.
   */
  private static final Set<String> WITHOUT_OPEN_THOUGHT =
      Set.of("named", "named_loose", "named_single", "required", "required_single");

  private final FrontendFixture frontend = new FrontendFixture();

  /** One request to a model with one card. */
  record Case(String card, String request) {
    @Override
    public String toString() {
      return card + ", " + request;
    }
  }

  private static JsonNode read() {
    try (InputStream file =
        Objects.requireNonNull(
            StructuralTagsGoldenTest.class.getResourceAsStream("/golden/structural-tags.json"))) {
      return JSON.readTree(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Stream<Case> cases() {
    return SEEN.path("answers").properties().stream()
        .flatMap(
            card ->
                card.getValue().properties().stream()
                    .map(request -> new Case(card.getKey(), request.getKey())))
        .filter(
            it ->
                !it.card().equals("kimi_k2/thinks")
                    || !WITHOUT_OPEN_THOUGHT.contains(it.request()));
  }

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void workersGetTheFormThatDynamoSends(Case one) throws IOException {
    frontend.runtimeConfig =
        JSON.convertValue(SEEN.path("cards").path(one.card()), new TypeReference<>() {});
    var body = (ObjectNode) SEEN.path("requests").path(one.request()).deepCopy();
    body.put("model", "script");
    body.putArray("messages").addObject().put("role", "user").put("content", "hi");
    boolean thinks = one.request().startsWith("thinking");
    frontend.promptIds = ("assistant\n" + (thinks ? "<think>\n" : "")).codePoints().toArray();
    var answer = frontend.post(body.toString());
    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    int form = SEEN.path("answers").path(one.card()).path(one.request()).intValue();
    assertThat(sent(Objects.requireNonNull(frontend.asked)))
        .isEqualTo(SEEN.path("forms").path(form));
  }

  private static JsonNode sent(GenerateRequest request) {
    var guided = request.sampling().guided();
    return guided == null ? JSON.nullNode() : JSON.valueToTree(fields(guided));
  }

  private static Map<String, Object> fields(GuidedDecoding guided) {
    var fields = new LinkedHashMap<String, Object>();
    put(fields, "json", guided.json());
    put(fields, "regex", guided.regex());
    put(fields, "structural_tag", guided.structuralTag());
    return fields;
  }

  private static void put(Map<String, Object> to, String name, @Nullable Object value) {
    if (value != null) {
      to.put(name, value);
    }
  }
}
