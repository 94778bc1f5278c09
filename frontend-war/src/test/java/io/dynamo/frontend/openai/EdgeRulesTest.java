package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.config.frontend.ApiSettings;
import io.dynamo.config.frontend.ApiSettings.ReasoningField;
import io.dynamo.config.frontend.DispatchEvents;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.PassedOn;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class EdgeRulesTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String PIN_HEADER = "x-dynamo-worker-instance-id";
  private static final String TOOLS =
      ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]";

  @TempDir Path directory;
  private @Nullable FrontendFixture opened;

  @AfterEach
  void close() {
    if (opened != null) {
      assertThat(opened.admission.admitted()).isZero();
      opened.close();
    }
  }

  private FrontendFixture with(ApiSettings settings) {
    var frontend = new FrontendFixture(settings);
    opened = frontend;
    frontend.items = saying("ok");
    return frontend;
  }

  private static List<EngineOutput> saying(String text) {
    return List.of(
        new EngineOutput(text.codePoints().toArray(), null, FinishReason.STOP, null, 0, null));
  }

  private static ApiSettings settings(
      boolean ignoreUnknown, boolean forceUsage, boolean extension, @Nullable Path template) {
    return new ApiSettings(
        ignoreUnknown,
        forceUsage,
        extension,
        "x-mine-",
        null,
        null,
        Duration.ZERO,
        ReasoningField.REASONING,
        DispatchEvents.NONE,
        false,
        template,
        Duration.ZERO,
        null,
        null,
        null);
  }

  private static ApiSettings plain() {
    return settings(false, false, true, null);
  }

  private static String chat(String more) {
    return "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
        + more
        + "}";
  }

  private static GenerateRequest asked(FrontendFixture frontend) {
    return Objects.requireNonNull(frontend.asked);
  }

  private static JsonNode json(FrontendFixture.Recorded answer) throws IOException {
    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    return JSON.readTree(answer.text());
  }

  @Test
  void unknownFieldsAreDroppedBySettingAndInvalidOnesAreRefused() {
    var frontend = with(settings(true, false, true, null));
    assertThat(frontend.post(chat(",\"verbosity\":\"low\",\"max_tokens\":7")).status)
        .isEqualTo(200);
    assertThat(asked(frontend).stop().maxTokens()).isEqualTo(7);
    assertThat(frontend.post(chat(",\"temperature\":3")).status).isEqualTo(400);
    frontend.api = TextService.COMPLETIONS;
    assertThat(frontend.post("{\"model\":\"script\",\"prompt\":\"p\",\"tools\":[]}").status)
        .as("a field of the other API")
        .isEqualTo(200);
  }

  @Test
  void unknownFieldsAreRefusedOtherwise() {
    assertThat(with(plain()).post(chat(",\"verbosity\":\"low\"")).text())
        .contains("Unsupported parameter(s): `verbosity`");
  }

  @Test
  void everyStreamTellsItsUsageWhereTheOperatorSaysSo() {
    var frontend = with(settings(false, true, true, null));
    assertThat(frontend.post(chat(",\"stream\":true")).text()).contains("\"usage\":{");
    assertThat(
            frontend
                .post(chat(",\"stream\":true,\"stream_options\":{\"include_usage\":false}"))
                .text())
        .contains("\"usage\":{");
    assertThat(frontend.post(chat("")).status).as("and what is no stream is read").isEqualTo(200);
  }

  @Test
  void withoutTheExtensionNeitherBodyNorHeadersRoute() throws IOException {
    var frontend = with(settings(false, false, false, null));
    var body = chat(",\"nvext\":{\"backend_instance_id\":7,\"extra_fields\":[\"worker_id\"]}");
    var answer =
        frontend.post(
            body.getBytes(StandardCharsets.UTF_8),
            Map.of(PIN_HEADER, "7", "x-tenant-id", "t", "x-dynamo-session-id", "s"));
    assertThat(json(answer).has("nvext")).isFalse();
    assertThat(asked(frontend).routing().passedOn())
        .as("tenants stay apart")
        .isEqualTo(PassedOn.of(Map.of("cache_salt", "t")));
    assertThat(asked(frontend).passedOn().get("agent_context"))
        .as("the session is no part of it")
        .isNotNull();
  }

  @Test
  void withTheExtensionHeadersRoute() {
    var frontend = with(plain());
    frontend.post(chat("").getBytes(StandardCharsets.UTF_8), Map.of(PIN_HEADER, "7"));
    assertThat(asked(frontend).routing().isPinned()).isTrue();
  }

  @Test
  void metadataHasTheOperatorsPrefix() {
    var frontend = with(plain());
    frontend.post(
        chat("").getBytes(StandardCharsets.UTF_8), Map.of("x-mine-a", "1", "x-dynamo-meta-b", "2"));
    assertThat(Objects.requireNonNull(frontend.context).metadata()).isEqualTo(Map.of("a", "1"));
  }

  @Test
  void thoughtsHaveTheOperatorsName() throws IOException {
    var frontend = with(plain());
    frontend.runtimeConfig = Map.of("reasoning_parser", "qwen3");
    frontend.items = saying("<think>hm</think>ok");
    var message = json(frontend.post(chat(""))).at("/choices/0/message");
    assertThat(message.path("reasoning").asText()).isEqualTo("hm");
    assertThat(message.has("reasoning_content")).isFalse();
    assertThat(frontend.post(chat(",\"stream\":true")).text())
        .contains("\"reasoning\":\"hm\"")
        .doesNotContain("reasoning_content");
  }

  @Test
  void toolsThatMustNotBeCalledAreShownUnlessOperatorOrCardHideThem() {
    var none = chat(TOOLS + ",\"tool_choice\":\"none\"");
    var shown = with(plain());
    shown.runtimeConfig = Map.of("tool_call_parser", "hermes");
    shown.items = saying("<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>");
    assertThat(shown.post(none).text()).as("nothing is parsed").contains("<tool_call>");
    assertThat(Objects.requireNonNull(shown.prompt).tools()).hasSize(1);
    close();
    var hidden = with(FrontendFixture.NO_RULES);
    hidden.post(none);
    assertThat(Objects.requireNonNull(hidden.prompt).tools()).isEmpty();
    hidden.runtimeConfig = Map.of("exclude_tools_when_tool_choice_none", false);
    hidden.post(none);
    assertThat(Objects.requireNonNull(hidden.prompt).tools()).as("the card keeps them").hasSize(1);
  }

  @Test
  void aTemplateSetsMissingFieldsOfAChatRequest() throws IOException {
    var file = directory.resolve("template.json");
    Files.writeString(
        file, "{\"model\":\"script\",\"temperature\":0.5,\"max_completion_tokens\":9}");
    var frontend = with(settings(false, false, true, file));

    frontend.post("{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
    assertThat(asked(frontend).sampling().temperature()).isEqualTo(0.5f);
    assertThat(asked(frontend).stop().maxTokens()).isEqualTo(9);

    frontend.post(chat(",\"temperature\":0,\"max_tokens\":0"));
    assertThat(asked(frontend).sampling().temperature()).isZero();
    assertThat(asked(frontend).stop().maxTokens()).as("0 is none").isEqualTo(9);

    frontend.post(chat(",\"max_tokens\":4"));
    assertThat(asked(frontend).stop().maxTokens()).isEqualTo(4);

    frontend.api = TextService.COMPLETIONS;
    assertThat(frontend.post("{\"prompt\":\"p\"}").status).as("not completions").isEqualTo(400);
  }

  @Test
  void aTemplateOfNoUseStopsTheStart() throws IOException {
    var file = directory.resolve("template.json");
    assertThatThrownBy(() -> new EdgeRules(settings(false, false, true, file)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("dynamo.frontend.request-template")
        .hasMessageContaining("cannot be read");
    for (var wrong :
        List.of(
            "[]",
            "{\"model\":\"m\"}",
            "{\"model\":1,\"temperature\":0.5,\"max_completion_tokens\":9}",
            "{\"model\":\"m\",\"temperature\":0.5,\"max_completion_tokens\":9.5}",
            "{\"model\":\"m\",\"temperature\":0.5,\"max_completion_tokens\":9,\"x\":1}")) {
      Files.writeString(file, wrong);
      assertThatThrownBy(() -> new EdgeRules(settings(false, false, true, file)))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("max_completion_tokens");
    }
  }
}
