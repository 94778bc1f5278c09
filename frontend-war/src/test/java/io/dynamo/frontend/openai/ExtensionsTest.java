package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.frontend.openai.ScriptedWorkers.Leg;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.PassedOn;
import io.dynamo.model.LoraAdapter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Dynamo's extension of requests and answers, and the headers that do the same. */
class ExtensionsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String PLACE =
      "{\"prefill_worker_id\":1,\"prefill_dp_rank\":0,\"decode_worker_id\":1,\"decode_dp_rank\":0}";

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
    return "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
        + more
        + "}";
  }

  private static List<EngineOutput> says(String text) {
    return text.codePoints().mapToObj(EngineOutput::ofTokens).toList();
  }

  private static List<JsonNode> chunks(String sse) throws Exception {
    var chunks = new ArrayList<JsonNode>();
    for (var frame : sse.split("\n\n", 0)) {
      if (frame.startsWith("data: {")) {
        chunks.add(JSON.readTree(frame.substring("data: ".length())));
      }
    }
    return chunks;
  }

  @Test
  void everyChunkTellsItsWorkerAndTokensAndTheLastTheTimes() throws Exception {
    workers.plays("", new Leg(says("ab"), true));
    var more =
        ",\"nvext\":{\"extra_fields\":[\"worker_id\",\"timing\",\"completion_token_ids\",\"zzz\"]}";
    var chunks = chunks(frontend.post(ask(",\"stream\":true" + more)).text());
    assertThat(chunks).hasSize(3);
    assertThat(chunks.getFirst().get("nvext").toString())
        .isEqualTo("{\"worker_id\":" + PLACE + ",\"completion_token_ids\":[97]}");
    var last = chunks.getLast().get("nvext");
    assertThat(last.get("worker_id").toString()).isEqualTo(PLACE);
    assertThat(last.at("/timing/request_received_ms").asLong())
        .isEqualTo(frontend.createdSeconds * 1000);
    for (var name :
        List.of("prefill_wait_time_ms", "prefill_time_ms", "ttft_ms", "total_time_ms")) {
      assertThat(last.at("/timing/" + name).isDouble()).as(name).isTrue();
    }
    assertThat(last.at("/timing/kv_hit_rate").asDouble()).isZero();
    var names = new ArrayList<String>();
    last.get("timing").fieldNames().forEachRemaining(names::add);
    assertThat(names)
        .as("those of the captures, in their order")
        .containsExactly(
            "request_received_ms",
            "prefill_wait_time_ms",
            "prefill_time_ms",
            "ttft_ms",
            "total_time_ms",
            "kv_hit_rate",
            "router_queue_depth");
  }

  /** Figures that Dynamo 1.6.1 was seen to give, blocks of 16. */
  @ParameterizedTest
  @CsvSource({
    "17, 1, 0.5",
    "26, 1, 0.5",
    "35, 2, 0.6666666666666666",
    "80, 5, 1.0",
    "104, 6, 0.8571428571428571"
  })
  void theHitRateCountsBlocks(int promptTokens, int overlapBlocks, double rate) throws Exception {
    workers.overlapBlocks = overlapBlocks;
    frontend.promptTokens = promptTokens;
    workers.plays("", new Leg(says("ab"), true));
    var more = ",\"nvext\":{\"extra_fields\":[\"timing\"]}";
    var answer = JSON.readTree(frontend.post(ask(more)).text());
    assertThat(answer.at("/nvext/timing/kv_hit_rate").asDouble()).isEqualTo(rate);
  }

  @Test
  void theWholeAnswerHasTheTokensOfAllItemsAndTheStopThatEndedIt() throws Exception {
    workers.plays("", new Leg(says("abSTOP"), false, true));
    var more =
        ",\"stop\":\"STOP\",\"nvext\":{\"extra_fields\":[\"completion_token_ids\",\"stop_reason\"]}";
    var nvext = JSON.readTree(frontend.post(ask(more)).text()).get("nvext");
    assertThat(nvext.toString())
        .isEqualTo("{\"completion_token_ids\":[97,98,83,84,79,80],\"stop_reason\":\"STOP\"}");
    workers.plays("", new Leg(says("abx"), false, true));
    more = ",\"stop_token_ids\":[120],\"nvext\":{\"extra_fields\":[\"stop_reason\"]}";
    nvext = JSON.readTree(frontend.post(ask(more)).text()).get("nvext");
    assertThat(nvext.toString()).isEqualTo("{\"stop_reason\":120}");
  }

  @Test
  void engineDataIsPassedOnWhenRequested() throws Exception {
    var data = Map.of("prompt_logprobs", List.of(1), "routed_experts", "eA==");
    var item =
        new EngineOutput(
            new int[] {'a'},
            null,
            FinishReason.EOS,
            null,
            0,
            null,
            null,
            null,
            PassedOn.of(Map.of("engine_data", data)));
    workers.plays("", new Leg(List.of(item), false, true));
    var more =
        ",\"nvext\":{\"extra_fields\":[\"engine_data\",\"routed_experts\",\"prompt_logprobs\"]}";
    var nvext = JSON.readTree(frontend.post(ask(more)).text()).get("nvext");
    assertThat(nvext.get("engine_data")).isEqualTo(JSON.valueToTree(data));
    assertThat(nvext.get("routed_experts").asText()).isEqualTo("eA==");
    assertThat(nvext.get("prompt_logprobs").toString()).isEqualTo("[1]");
  }

  @Test
  void withoutAnExtensionNothingIsAdded() {
    workers.plays("", new Leg(says("a"), true));
    assertThat(frontend.post(ask("")).text()).doesNotContain("nvext");
    workers.plays("", new Leg(says("a"), true));
    assertThat(frontend.post(ask(",\"nvext\":{\"extra_fields\":[\"stop_reason\"]}")).text())
        .doesNotContain("nvext"); // no stop ended it
  }

  @Test
  void aRouteIsAnsweredWithoutAText() throws Exception {
    frontend.promptIds = new int[] {7, 8};
    var more = ",\"nvext\":{\"annotations\":[\"query_instance_id:aggregated\"]}";
    var nvext = "{\"worker_id\":" + PLACE + ",\"token_ids\":[7,8]}";
    var chunks = chunks(frontend.post(ask(",\"stream\":true" + more)).text());
    assertThat(chunks).hasSize(1);
    assertThat(chunks.getFirst().get("choices").toString())
        .isEqualTo(
            "[{\"index\":0,\"delta\":{\"role\":\"assistant\"},\"finish_reason\":null,\"logprobs\":null}]");
    assertThat(chunks.getFirst().get("nvext").toString()).isEqualTo(nvext);
    var whole = JSON.readTree(frontend.post(ask(more)).text());
    assertThat(whole.get("choices").toString())
        .isEqualTo(
            "[{\"index\":0,\"message\":{\"content\":null,\"refusal\":null,\"role\":\"assistant\"},"
                + "\"finish_reason\":null,\"logprobs\":null}]");
    assertThat(whole.has("usage")).isFalse();
    assertThat(whole.get("nvext").toString()).isEqualTo(nvext);
    assertThat(workers.asked).isEmpty();
  }

  @Test
  void annotationsPrecedeTheChunksInDynamosOrder() {
    frontend.promptIds = new int[] {7, 1114111};
    workers.plays("", new Leg(says("a"), true));
    var more =
        ",\"stream\":true,\"nvext\":{\"annotations\":[\"formatted_prompt\",\"token_ids\",\"request_id\",\"zzz\"]}";
    var id = "6f1c2b7e-0000-4000-8000-000000000001";
    var text =
        frontend
            .post(ask(more).getBytes(StandardCharsets.UTF_8), Map.of("x-dynamo-request-id", id))
            .text();
    assertThat(text.replaceFirst("^: \n\n", ""))
        .startsWith(
            "event: request_id\n: \""
                + id
                + "\"\n\nevent: token_ids\n: \"[7,1114111]\"\n\nevent: formatted_prompt\n"
                + ": \"<|im_start|>user\\nhi<|im_end|>\\n<|im_start|>assistant\\n\"\n\ndata: {");
    assertThat(workers.asked.getFirst().annotations())
        .containsExactly("formatted_prompt", "token_ids", "request_id", "zzz");
  }

  @Test
  void headersWinOverTheBodyAndNonsenseInThemIsAsNone() {
    var body =
        ask(
            ",\"nvext\":{\"backend_instance_id\":1,\"cache_salt\":\"b\",\"agent_hints\":{\"priority\":1,\"osl\":9}}");
    workers.plays("", new Leg(says("a"), true), new Leg(says("a"), true));
    frontend.post(
        body.getBytes(StandardCharsets.UTF_8),
        Map.of(
            "x-worker-instance-id", "18446744073709551615",
            "x-dp-rank", "2",
            "x-dynamo-prefill-dp-rank", "4294967295",
            "x-dynamo-request-priority", "-4",
            "x-dynamo-request-strict-priority", "2",
            "x-tenant-id", "acme"));
    var hints = workers.asked.getLast().routing().passedOn().fields();
    assertThat(JSON.valueToTree(hints).toString())
        .isEqualTo(
            "{\"backend_instance_id\":18446744073709551615,\"decode_worker_id\":18446744073709551615,"
                + "\"expected_output_tokens\":9,\"cache_salt\":\"acme\",\"priority_jump\":0.0,"
                + "\"strict_priority\":2,\"priority\":-4}");
    frontend.post(
        body.getBytes(StandardCharsets.UTF_8),
        Map.of(
            "x-worker-instance-id", "18446744073709551616",
            "x-dynamo-request-priority", "2147483648",
            "x-tenant-id", ""));
    hints = workers.asked.getLast().routing().passedOn().fields();
    assertThat(hints)
        .containsEntry("cache_salt", "b")
        .containsEntry("priority", 1)
        .containsKey("backend_instance_id")
        .doesNotContainKey("decode_worker_id");
  }

  @Test
  void inlineMediaAreSentOnceHoweverTheirSchemeIsWritten() {
    workers.plays("", new Leg(says("a"), true));
    frontend.post(
        """
        {"model":"script","messages":[{"role":"user","content":[{"type":"text","text":"see"},
        {"type":"image_url","image_url":{"url":"DATA:image/png;base64,AAAA"}}]}]}
        """);

    var asked = workers.asked.getFirst();
    assertThat(String.valueOf(asked.passedOn().get("multi_modal_data"))).contains("base64");
    assertThat(String.valueOf(asked.extraArgs().get("messages"))).doesNotContain("base64");
  }

  @Test
  void mediaGoToTheWorkerAndTheirPlacesToTheTemplate() {
    workers.plays("", new Leg(says("a"), true));
    var answer =
        frontend.post(
            """
            {"model":"script","messages":[{"role":"user","content":[{"type":"text","text":"see"},
            {"type":"image_url","uuid":"u","image_url":{"url":"data:image/png;base64,AAAA"}},
            {"type":"video_url","video_url":{"url":"http://127.0.0.1/x.mp4"}}]}]}
            """);
    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    var asked = workers.asked.getFirst();
    assertThat(asked.passedOn().get("multi_modal_data"))
        .isEqualTo(
            Map.of(
                "image_url", List.of(Map.of("Url", "data:image/png;base64,AAAA")),
                "video_url", List.of(Map.of("Url", "http://127.0.0.1/x.mp4"))));
    assertThat(String.valueOf(asked.passedOn().get("multi_modal_uuids"))).contains("u");
    assertThat(String.valueOf(asked.extraArgs().get("messages")))
        .doesNotContain("base64")
        .contains("http://127.0.0.1/x.mp4");
    assertThat(asked.extraArgs().get("formatted_prompt")).isEqualTo(frontend.encoded);
    assertThat(Objects.requireNonNull(frontend.prompt).messages().getFirst().get("content"))
        .isEqualTo(
            List.of(
                Map.of("type", "text", "text", "see"),
                Map.of("type", "image"),
                Map.of("type", "video")));
  }

  @Test
  void reasoningControlsReachTheTemplateInEveryDialect() {
    workers.plays("", new Leg(says("a"), true), new Leg(says("a"), true), new Leg(says("a"), true));
    frontend.post(ask(",\"reasoning_effort\":\"none\",\"chat_template_args\":{\"k\":1}"));
    assertThat(Objects.requireNonNull(frontend.prompt).templateArgs())
        .isEqualTo(
            Map.of(
                "k",
                1,
                "reasoning_effort",
                "none",
                "thinking_mode",
                "disabled",
                "thinking",
                false,
                "enable_thinking",
                false));
    frontend.post(ask(",\"reasoning_effort\":\"none\",\"thinking\":true"));
    assertThat(frontend.prompt.templateArgs()).containsEntry("enable_thinking", true);
    frontend.post(
        ask(
            ",\"thinking\":{\"type\":\"adaptive\"},\"chat_template_kwargs\":{\"enable_thinking\":true}"));
    assertThat(frontend.prompt.templateArgs()).isEqualTo(Map.of("thinking_mode", "adaptive"));
  }

  @Test
  void anExtensionOfAnotherShapeIsRefusedByTheNameOfItsKey() {
    for (var bad : List.of("{\"zzz\":1}", "{\"agent_hints\":{\"zzz\":1}}", "\"x\"")) {
      var answer = frontend.post(ask(",\"nvext\":" + bad));
      assertThat(answer.status).isEqualTo(400);
      assertThat(answer.text()).contains("nvext");
    }
  }

  @Test
  void workersGetAnAdapterByItsOwnName() throws Exception {
    frontend.lora = LoraAdapter.of("script", 4);
    workers.plays("", new Leg(says("ab"), true));
    frontend.post(ask(",\"nvext\":{\"cache_salt\":\"s\"}"));
    var asked = workers.asked.getFirst();
    assertThat(asked.model()).isEqualTo("script");
    assertThat(asked.routing().passedOn().fields())
        .containsEntry("lora_name", "script")
        .containsEntry("cache_salt", "s");
  }
}
