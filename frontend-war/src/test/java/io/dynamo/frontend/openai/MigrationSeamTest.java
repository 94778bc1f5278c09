package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.frontend.dispatch.MigrationRules;
import io.dynamo.frontend.openai.ScriptedWorkers.Leg;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.PassedOn;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A client does not notice that a generation's worker was lost in the middle. */
class MigrationSeamTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final FrontendFixture frontend = new FrontendFixture();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final ScriptedWorkers workers = new ScriptedWorkers();

  @BeforeEach
  void dispatchForReal() {
    frontend.through = workers.dispatcher(frontend.metrics, timer);
  }

  @AfterEach
  void close() {
    assertThat(frontend.admission.admitted()).isZero();
    timer.shutdownNow();
    frontend.close();
  }

  private static String ask(String more) {
    return "{\"model\":\"script\",\"prompt\":\"p\"" + more + "}";
  }

  private JsonNode post(String more) throws IOException {
    frontend.api = TextService.COMPLETIONS;
    var answer = frontend.post(ask(more));
    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    return JSON.readTree(answer.text());
  }

  private static List<EngineOutput> says(String text) {
    return text.codePoints().mapToObj(EngineOutput::ofTokens).toList();
  }

  @Test
  void aStopStringThatSpansTheSeamIsFound() throws Exception {
    workers.plays("", new Leg(says("one ST"), false), new Leg(says("OP two"), true));
    var answer = post(",\"stop\":\"STOP\",\"max_tokens\":50");
    assertThat(answer.at("/choices/0/text").asText()).isEqualTo("one ");
    assertThat(answer.at("/choices/0/finish_reason").asText()).isEqualTo("stop");
    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo("one STOP".length());
    assertThat(workers.asked).hasSize(2);
    assertThat(workers.asked.getLast().stop().stop()).containsExactly("STOP");
    assertThat(workers.asked.getLast().stop().maxTokens()).isEqualTo(50 - "one ST".length());
  }

  @Test
  void aPromisingBeginningBeforeTheSeamIsGivenBackWhenTheStopDoesNotCome() throws Exception {
    workers.plays("", new Leg(says("one ST"), false), new Leg(says("ART"), true));
    assertThat(post(",\"stop\":\"STOP\"").at("/choices/0/text").asText()).isEqualTo("one START");
  }

  @Test
  void logprobsGoOnAcrossTheSeamWithTheirPlacesInTheText() throws Exception {
    workers.plays(
        "", new Leg(List.of(rated('a', -0.5)), false), new Leg(List.of(rated('b', -1.5)), true));
    var logprobs = post(",\"logprobs\":1").at("/choices/0/logprobs");
    assertThat(logprobs.toString())
        .isEqualTo(
            "{\"tokens\":[\"a\",\"b\"],\"token_logprobs\":[-0.5,-1.5],"
                + "\"top_logprobs\":[{\"a\":-0.5},{\"b\":-1.5}],\"text_offset\":[0,1]}");
    assertThat(workers.asked.getLast().output().logprobs()).isEqualTo(1);
  }

  private static EngineOutput rated(int token, double logprob) {
    return new EngineOutput(
        new int[] {token},
        null,
        null,
        null,
        0,
        null,
        new Logprobs(logprob, new double[] {logprob}, List.of()),
        null,
        PassedOn.NONE);
  }

  @Test
  void eachChoiceMovesByItself() throws Exception {
    workers.plays("-0", new Leg(says("ab"), false), new Leg(says("cd"), true));
    workers.plays("-1", new Leg(says("xyz"), true));
    var answer = post(",\"n\":2,\"seed\":40");
    assertThat(answer.at("/choices/0/text").asText()).isEqualTo("abcd");
    assertThat(answer.at("/choices/1/text").asText()).isEqualTo("xyz");
    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(7);
    assertThat(workers.asked).extracting(it -> it.sampling().seed()).containsExactly(40L, 40L, 41L);
    assertThat(workers.asked.get(1).tokenIds()).endsWith('a', 'b');
    assertThat(workers.asked.get(1).migratedTokens()).isEqualTo(2);
    assertThat(workers.asked.get(2).migratedTokens()).isZero();
    assertThat(workers.asked.get(2).tokenIds()).hasSize(5);
  }

  @Test
  void aChoiceThatIsLostForGoodEndsTheOthers() {
    frontend.api = TextService.COMPLETIONS;
    workers.plays("-0", new Leg(says("a"), false));
    workers.plays("-1", new Leg(says("b"), false, true));
    var answer = frontend.post(ask(",\"n\":2"));
    assertThat(answer.status).isEqualTo(503);
    assertThat(workers.cancelled).contains("-1");
  }

  @Test
  void aTextOfAGivenFormIsNotContinuedElsewhere() {
    workers.plays("", new Leg(says("{\"a"), false), new Leg(says("{}"), true));
    var guided = ",\"guided_regex\":\"[a-z]+\"";
    frontend.api = TextService.COMPLETIONS;
    assertThat(frontend.post(ask(guided)).status).isEqualTo(503);
    assertThat(workers.asked).hasSize(1);
  }

  @Test
  void aGuidedTextRestartsElsewhereBeforeItsFirstToken() throws Exception {
    workers.plays("", new Leg(List.of(), false), new Leg(says("abc"), true));
    assertThat(post(",\"guided_regex\":\"[a-z]+\"").at("/choices/0/text").asText())
        .isEqualTo("abc");
  }

  @Test
  void aWorkerThatTheClientNamedIsNotReplaced() {
    workers.plays("", new Leg(says("a"), false), new Leg(says("b"), true));
    frontend.api = TextService.COMPLETIONS;
    var answer = frontend.post(ask(",\"nvext\":{\"backend_instance_id\":1}"));
    assertThat(answer.status).isEqualTo(503);
    assertThat(workers.asked).hasSize(1);
  }

  @Test
  void theModelsOwnLimitCountsWhereItNamesOne() throws Exception {
    var legs =
        new Leg[] {new Leg(says("a"), false), new Leg(says("b"), false), new Leg(says("c"), true)};
    frontend.api = TextService.COMPLETIONS;
    frontend.migrationLimit = 1;
    workers.plays("", legs);
    assertThat(frontend.post(ask("")).status).isEqualTo(503);
    frontend.migrationLimit = 0; // as every card of Dynamo has it: the frontend's rules
    workers.plays("", legs);
    assertThat(post("").at("/choices/0/text").asText()).isEqualTo("abc");
  }

  /** One of every family that streams: cut after each token of the text, the answer is the same. */
  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '§',
      value = {
        "hermes => <think>so</think>a <tool_call>{\"name\": \"f\", \"arguments\": {\"a\":"
            + " \"\u00fcx\"}}</tool_call>",
        "llama3_json => <|python_tag|>{\"name\": \"f\", \"parameters\": {\"a\": [1, 2]}}",
        "qwen3_coder =>"
            + " <think>so</think><tool_call><function=f><parameter=a>b</parameter></function></tool_call>",
        "pythonic => [f(a='b'), f(a=\"c\")]",
        "harmony+gpt_oss =>"
            + " <|channel|>analysis<|message|>so<|end|><|start|>assistant<|channel|>commentary"
            + " to=functions.f <|constrain|>json<|message|>{\"a\": 1}<|call|>",
        "deepseek_v3+deepseek_r1 => so</think>a"
            + " <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f⏎```json⏎{\"a\":"
            + " 1}⏎```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "muse_glimmer+muse => to=self<|message|>so<|eom|><|start|>assistant"
            + " to=functions.f<|message|><atem:function_calls><atem:invoke"
            + " name=\"f\"><atem:parameter"
            + " name=\"a\">b</atem:parameter></atem:invoke></atem:function_calls><|eot|>"
      })
  void thoughtsAndToolCallsAreWholeWhereverTheirWorkerIsLost(String parser, String text)
      throws Exception {
    frontend.api = TextService.CHAT;
    var parsers = parser.split("\\+", 2);
    frontend.runtimeConfig =
        Map.of(
            "tool_call_parser",
            parsers[0],
            "reasoning_parser",
            parsers.length < 2 ? "qwen3" : parsers[1]);
    var request =
        "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],\"tools\":"
            + "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":"
            + "\"object\",\"properties\":{\"a\":{}}}}}],\"stream\":true}";
    var items = says(text.replace('⏎', '\n'));
    workers.plays("", new Leg(items, true));
    var whole = said(frontend.post(request).text());
    assertThat(whole).contains("f(");
    assertThat(whole.startsWith("so /")).as(whole).isEqualTo(text.contains("so<"));
    for (int cut = 0; cut < items.size(); cut++) {
      workers.plays(
          "",
          new Leg(items.subList(0, cut), false),
          new Leg(items.subList(cut, items.size()), true));
      workers.asked.clear();
      assertThat(said(frontend.post(request).text())).as("cut at %d", cut).isEqualTo(whole);
      assertThat(workers.asked).hasSize(2);
    }
  }

  /** Joins the thoughts, the text and the calls of a stream. */
  private static String said(String stream) throws IOException {
    var thoughts = new StringBuilder();
    var content = new StringBuilder();
    var calls = new StringBuilder();
    var finish = "";
    for (var frame : stream.split("\n\n", -1)) {
      if (frame.startsWith("data: {")) {
        var choice = JSON.readTree(frame.substring("data: ".length())).path("choices").path(0);
        thoughts.append(choice.at("/delta/reasoning_content").asText(""));
        content.append(choice.at("/delta/content").asText(""));
        for (var call : choice.at("/delta/tool_calls")) {
          var name = call.at("/function/name").asText("");
          calls.append(name.isEmpty() ? "" : "|" + call.path("index") + name + "(");
          calls.append(call.at("/function/arguments").asText(""));
        }
        finish += choice.path("finish_reason").asText("");
      }
    }
    return String.join(" / ", thoughts, content, calls, finish);
  }

  @Test
  void aTextThatIsTooLongStaysWhereItIsAndIsCounted() throws Exception {
    workers.rules = new MigrationRules(3, 7);
    frontend.through = workers.dispatcher(frontend.metrics, timer);
    workers.plays("", new Leg(says("ab"), false), new Leg(says("c"), true));
    assertThat(post("").at("/choices/0/text").asText()).as("5 and 2").isEqualTo("abc");
    workers.plays("", new Leg(says("abc"), false), new Leg(says("d"), true));
    assertThat(frontend.post(ask("")).status).as("5 and 3").isEqualTo(503);
    assertThat(
            frontend
                .metrics
                .counter(
                    new MetricName(
                        "dynamo_frontend_model_migration_max_seq_len_exceeded_total", ""),
                    new Label("model", "script"))
                .value())
        .isOne();
  }
}
