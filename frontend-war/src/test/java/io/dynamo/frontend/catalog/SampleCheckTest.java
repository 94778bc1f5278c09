package io.dynamo.frontend.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Execution;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.frontend.preprocess.HuggingFaceText;
import io.dynamo.frontend.preprocess.NoText;
import io.dynamo.frontend.preprocess.PromptText;
import io.dynamo.model.ModelCard;
import io.dynamo.model.RenderedSample;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class SampleCheckTest {
  private static final Path TINY = Path.of("../server-config/src/main/liberty/config/models/tiny");

  /** A conversation and its ids, recorded from {@code /tokenize} of vLLM 0.32.0. */
  private static final List<Map<String, Object>> CONVERSATION =
      List.of(
          Map.of("role", "system", "content", "You are a helpful assistant."),
          Map.of("role", "user", "content", "Count from 1 to 20."));

  private static final List<Integer> IDS =
      List.of(
          4088, 409, 198, 477, 220, 349, 220, 64, 220, 715, 220, 330, 13, 4089, 198, 4088, 333, 198,
          1066, 220, 455, 220, 16, 220, 268, 220, 17, 15, 13, 4089, 198, 4088, 330, 198);

  private static HuggingFaceText text;

  @BeforeAll
  static void open() {
    text = HuggingFaceText.open(TINY);
  }

  @AfterAll
  static void close() {
    text.close();
  }

  private static ModelCard card(RenderedSample sample) {
    return TestCard.named("tiny")
        .runtimeConfig(Map.of("runtime_data", sample.runtimeData()))
        .build();
  }

  private static RenderedSample conversation(List<Integer> ids) {
    return new RenderedSample(CONVERSATION, "", ids);
  }

  @Test
  void renderingOfVllmIsThatOfTheFrontend() {
    assertThat(SampleCheck.problem(card(conversation(IDS)), text)).isNull();
  }

  @Test
  void aCardWithoutASampleIsNotCompared() {
    assertThat(SampleCheck.problem(TestCard.named("tiny").build(), new NoText())).isNull();
  }

  @Test
  void theFirstDifferenceIsNamedWithItsSurroundings() {
    var other = new ArrayList<>(IDS);
    other.set(20, 9);
    assertThat(SampleCheck.problem(card(conversation(other)), text))
        .contains("34 tokens there, 34 here", "first other at 20")
        .contains("[198, 1066, 220, 9, 220, 16, 220] there")
        .contains("[198, 1066, 220, 455, 220, 16, 220] here");
  }

  @Test
  void aPromptThatEndsEarlierDiffersAtItsEnd() {
    var withoutPrompt = IDS.subList(0, 31); // no generation prompt
    assertThat(SampleCheck.problem(card(conversation(withoutPrompt)), text))
        .contains(
            "31 tokens there, 34 here",
            "first other at 31",
            "[13, 4089, 198, 4088, 330, 198] here");
    var longer = new ArrayList<>(IDS);
    longer.add(5);
    assertThat(SampleCheck.problem(card(conversation(longer)), text))
        .contains("first other at 34", "[4088, 330, 198, 5] there");
  }

  @Test
  void aTextIsComparedWithoutTheTemplate() {
    var ids = new ArrayList<Integer>();
    for (int id : text.encode(RenderedSample.TEXT)) {
      ids.add(id);
    }
    assertThat(SampleCheck.problem(card(RenderedSample.ofText(ids)), text)).isNull();
    assertThat(SampleCheck.problem(card(RenderedSample.ofText(ids.reversed())), text))
        .contains("first other at 0");
  }

  @Test
  void anEngineMayThinkByDefaultOrNot() {
    var thinking =
        new NoText() {
          @Override
          public PromptText render(ChatPrompt prompt) {
            return PromptText.whole(
                Boolean.FALSE.equals(prompt.templateArgs().get("thinking")) ? "b" : "a");
          }

          @Override
          public int[] encode(PromptText prompt, int maxTokens) {
            return new int[] {prompt.text().charAt(0)};
          }
        };
    assertThat(SampleCheck.problem(card(conversation(List.of((int) 'a'))), thinking)).isNull();
    assertThat(SampleCheck.problem(card(conversation(List.of((int) 'b'))), thinking)).isNull();
    assertThat(SampleCheck.problem(card(conversation(List.of((int) 'c'))), thinking))
        .contains("[99] there", "[97] here");
  }

  @Test
  void aTemplateThatFailsHereIsAProblem() {
    var refusing =
        new NoText() {
          @Override
          public PromptText render(ChatPrompt prompt) {
            throw new InvalidRequestException("no system role");
          }
        };
    assertThat(SampleCheck.problem(card(conversation(IDS)), refusing))
        .contains("34 tokens, and this frontend fails: no system role");
  }

  @Test
  void aSampleThatCannotBeReadIsAProblem() {
    var card =
        TestCard.named("tiny")
            .runtimeConfig(Map.of("runtime_data", Map.of("rendered_sample", Map.of("text", 1))))
            .build();
    assertThat(SampleCheck.problem(card, text)).contains("cannot be compared");
  }

  @Test
  void theSampleOfEachWorkerIsCompared() {
    var rendered = new ArrayList<ChatPrompt>();
    var discovery = new PlayedDiscovery();
    var timer = Executors.newSingleThreadScheduledExecutor();
    var counting =
        new NoText() {
          @Override
          public PromptText render(ChatPrompt prompt) {
            if (prompt.templateArgs().isEmpty()) { // the first of a sample
              rendered.add(prompt);
            }
            return PromptText.whole("");
          }

          @Override
          public int[] encode(PromptText prompt, int maxTokens) {
            return new int[0];
          }
        };
    try (var _ =
        new DiscoveryCatalog(
            discovery,
            _ -> counting,
            new DiscoveryCatalog.Scope(_ -> true, Duration.ofMinutes(11)),
            new LiveInstances(),
            _ -> false,
            new Execution(new LoadThread(), timer, () -> Instant.EPOCH),
            () -> 0,
            () -> 0)) {
      discovery.add(record(1));
      assertThat(rendered).hasSize(1);
      discovery.add(record(2));
      assertThat(rendered).hasSize(2);
      discovery.lose(record(1));
      discovery.lose(record(2));
      discovery.add(record(3)); // its text is still there
      assertThat(rendered).hasSize(3);
      assertThat(rendered.getLast().messages()).isEqualTo(CONVERSATION);
    } finally {
      timer.shutdownNow();
    }
  }

  private static ModelRecord record(long worker) {
    return new ModelRecord(
        new EndpointId("dynamo", "backend", "generate"),
        new InstanceId(worker),
        card(conversation(IDS)),
        null);
  }
}
