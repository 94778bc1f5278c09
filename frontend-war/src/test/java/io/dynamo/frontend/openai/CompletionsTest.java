package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.sse.FakeHangUps;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.PassedOn;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Completions beyond the captures: improvements over Dynamo, echo, best_of, log probabilities. */
class CompletionsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final FrontendFixture frontend = new FrontendFixture();

  @BeforeEach
  void completions() {
    frontend.api = TextService.COMPLETIONS;
  }

  @AfterEach
  void close() {
    assertThat(frontend.admission.admitted()).isZero();
    frontend.close();
  }

  private static String ask(String more) {
    return "{\"model\":\"script\",\"prompt\":\"Once\"" + more + "}";
  }

  private JsonNode json(String body) throws Exception {
    var answer = frontend.post(body);
    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    return JSON.readTree(answer.text());
  }

  private static EngineOutput said(String text, @Nullable FinishReason finish, double... logprobs) {
    var ids = text.codePoints().toArray();
    return new EngineOutput(
        ids,
        null,
        finish,
        null,
        0,
        null,
        logprobs.length == 0 ? null : new Logprobs(null, logprobs, List.of()),
        null,
        PassedOn.NONE);
  }

  @Test
  void theEchoComesBeforeTheTextStreamedAndAtOnce() throws Exception {
    frontend.items = List.of(said(" upon", null), said(" a", FinishReason.LENGTH));
    assertThat(json(ask(",\"echo\":true")).at("/choices/0/text").asText()).isEqualTo("Once upon a");
    var streamed = frontend.post(ask(",\"echo\":true,\"stream\":true")).text();
    assertThat(streamed).contains("\"text\":\"Once upon\"").contains("\"text\":\" a\"");
  }

  @Test
  void thePromptsLogprobsAreRequestedOnlyForAnEcho() {
    frontend.post(ask(",\"echo\":true"));
    assertThat(frontend.allAsked.getLast().output().promptLogprobs()).isNull();
    frontend.post(ask(",\"echo\":true,\"logprobs\":0"));
    assertThat(frontend.allAsked.getLast().output().promptLogprobs()).isOne();
    frontend.post(ask(",\"echo\":true,\"logprobs\":3"));
    assertThat(frontend.allAsked.getLast().output().promptLogprobs()).isEqualTo(3);
    frontend.post(ask(",\"prompt_logprobs\":2"));
    assertThat(frontend.allAsked.getLast().output().promptLogprobs()).isEqualTo(2);
  }

  @Test
  void anEchoThatIsTooLongForItsChoicesIsRefused() throws Exception {
    var prompt = "x".repeat(140_000);
    var body = "{\"model\":\"script\",\"prompt\":\"" + prompt + "\",\"echo\":true,\"n\":%d}";
    var watcher = FakeHangUps.unwatched();
    var roomy = new FrontendFixture(Duration.ofSeconds(30), watcher, 1 << 20);
    try {
      roomy.api = TextService.COMPLETIONS;
      roomy.items = List.of(said("!", FinishReason.LENGTH));
      var refused = roomy.post(body.formatted(128));
      assertThat(refused.text()).contains("echo would repeat more than 16777216 characters");
      assertThat(refused.status).isEqualTo(400);
      var given = JSON.readTree(roomy.post(body.formatted(2)).text());
      assertThat(given.get("choices").findValuesAsText("text"))
          .containsExactly(prompt + "!", prompt + "!");
    } finally {
      roomy.close();
    }
  }

  @Test
  void theEchoOfTokensIsTheirText() throws Exception {
    frontend.items = List.of(said("!", FinishReason.LENGTH));
    var body = "{\"model\":\"script\",\"prompt\":[[72,105],[233]],\"echo\":true,\"n\":2}";
    var choices = json(body).get("choices");
    assertThat(choices).hasSize(4);
    assertThat(choices.findValuesAsText("text")).containsExactly("Hi!", "Hi!", "é!", "é!");
    assertThat(choices.findValuesAsText("index")).containsExactly("0", "1", "2", "3");
  }

  @Test
  void placesInTheTextStandAfterTheEchoAndCountCharacters() throws Exception {
    frontend.items = List.of(said("é", null, -1), said("x", FinishReason.LENGTH, -2));
    var logprobs = json(ask(",\"echo\":true,\"logprobs\":0")).at("/choices/0/logprobs");
    assertThat(logprobs.get("text_offset").toString()).isEqualTo("[4,5]");
    assertThat(logprobs.get("top_logprobs").toString()).isEqualTo("[{\"é\":-1.0},{\"x\":-2.0}]");
  }

  @Test
  void theLikeliestOfTheBestAreGivenAndAllAreCounted() throws Exception {
    frontend.scripts =
        List.of(
            List.of(said("ab", FinishReason.EOS, -3, -3)),
            List.of(said("cd", FinishReason.EOS, -1, -1)),
            List.of(said("ef", FinishReason.EOS, -2, -2)));
    var answer = json(ask(",\"best_of\":3,\"n\":2,\"seed\":1"));
    assertThat(answer.get("choices").findValuesAsText("text")).containsExactly("cd", "ef");
    assertThat(answer.at("/choices/0/logprobs").isMissingNode()).isTrue();
    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(6);
    assertThat(frontend.allAsked).extracting(it -> it.output().logprobs()).containsOnly(0);
    assertThat(frontend.allAsked)
        .extracting(it -> it.sampling().seed())
        .containsExactly(1L, 2L, 3L);
    assertThat(frontend.allAsked).extracting(it -> it.sampling().n()).containsOnly(1);
  }

  @Test
  void theBestAreNotGuessedWhenTheWorkerDoesNotSayHowLikelyTheyAre() {
    frontend.items = List.of(said("ab", FinishReason.EOS));
    assertThat(frontend.post(ask(",\"best_of\":2")).status).isEqualTo(500);
    assertThat(frontend.post(ask(",\"best_of\":2,\"stream\":true")).text()).contains("best_of");
  }

  @Test
  void everyTextHasAnIdAndACancellationOfItsOwn() throws Exception {
    frontend.items = List.of(said("a", FinishReason.EOS));
    json("{\"model\":\"script\",\"prompt\":[\"a\",\"b\"],\"n\":2}");
    assertThat(frontend.contexts).extracting(it -> it.id()).doesNotHaveDuplicates().hasSize(4);
    assertThat(frontend.contexts).extracting(it -> it.cancellation()).doesNotHaveDuplicates();
    frontend.contexts.clear();
    json(ask(""));
    assertThat(frontend.contexts.getFirst().id()).hasSize(36);
  }

  @Test
  void theFailureOfOneTextCancelsTheOthers() {
    frontend.scripts = List.of(List.of(said("a", null)), List.of(said("b", null)));
    frontend.failure = new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "broken", null);
    frontend.endlessFirst = true;
    var answer = frontend.post("{\"model\":\"script\",\"prompt\":[\"a\",\"b\"]}");
    assertThat(answer.status).isEqualTo(500);
    assertThat(frontend.workerCancelled).isTrue();
  }

  @Test
  void aStreamOfSeveralTextsTellsWhichIsWhich() {
    frontend.scripts =
        List.of(
            List.of(said("a", null), said("b", FinishReason.EOS)),
            List.of(said("c", null), said("d", FinishReason.LENGTH)));
    var text = frontend.post(ask(",\"n\":2,\"stream\":true")).text();
    assertThat(text)
        .containsSubsequence(
            "{\"text\":\"a\",\"index\":0,\"finish_reason\":null}",
            "{\"text\":\"c\",\"index\":1,\"finish_reason\":null}",
            "{\"text\":\"b\",\"index\":0,\"finish_reason\":\"stop\"}",
            "{\"text\":\"d\",\"index\":1,\"finish_reason\":\"length\"}",
            "data: [DONE]");
  }

  @Test
  void engineOnlyOptionsArePassedOn() throws Exception {
    frontend.items = List.of(said("a", FinishReason.EOS));
    json(
        ask(
            ",\"suffix\":\"end\",\"logit_bias\":{\"5\":-100},\"allowed_token_ids\":[1,4294967295]"));
    assertThat(Objects.requireNonNull(frontend.asked).extraArgs())
        .containsEntry(
            "sampling_options",
            Map.of(
                "allowed_token_ids",
                List.of(1, 4294967295L),
                "logit_bias",
                Map.of("5", -100),
                "suffix",
                "end"));
  }

  @Test
  void aModelWithoutTheApiIsNotFound() {
    frontend.modelTypes = Set.of("Chat");
    assertThat(frontend.post(ask("")).status).isEqualTo(404);
  }

  @Test
  void theWorkersBudgetIsKept() {
    frontend.promptTokens = 10;
    frontend.items = List.of(said("a", FinishReason.EOS));
    frontend.runtimeConfig =
        Map.of(
            "runtime_data",
            Map.of(
                "token_budget",
                Map.of(
                    "combined_limit",
                    20,
                    "reject_prompt_overflow",
                    true,
                    "reject_total_overflow",
                    true)));
    assertThat(frontend.post(ask(",\"max_tokens\":10")).status).isEqualTo(200);
    var answer = frontend.post(ask(",\"max_tokens\":11"));
    assertThat(answer.status).isEqualTo(400);
    assertThat(answer.text())
        .contains("context_length_exceeded")
        .contains("20 tokens")
        .contains("up to 11")
        .contains("\"param\":\"prompt\"")
        .endsWith("\"details\":{\"type\":\"context_length\",\"limit\":20,\"actual\":21}}");
    frontend.promptTokens = 20;
    assertThat(frontend.post(ask("")).status).isEqualTo(400);
  }

  @Test
  void idsOfPromptsBeyondTheVocabularyAreRefusedByValue() {
    for (var id : List.of("1114112", "4294967295")) {
      var answer = frontend.post("{\"model\":\"script\",\"prompt\":[" + id + "]}");
      assertThat(answer.status).isEqualTo(400);
      assertThat(answer.text()).contains(id).contains("1114112 tokens");
    }
  }

  @Test
  void promptsMayComeAsManyAsTheChoicesAllow() throws Exception {
    frontend.items = List.of(said("a", FinishReason.EOS));
    var prompts = new ArrayList<String>();
    for (int i = 0; i < 128; i++) {
      prompts.add("\"p\"");
    }
    var body = "{\"model\":\"script\",\"prompt\":[" + String.join(",", prompts) + "]}";
    assertThat(json(body).get("choices")).hasSize(128);
  }
}
