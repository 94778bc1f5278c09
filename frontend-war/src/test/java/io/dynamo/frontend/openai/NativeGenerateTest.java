package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.StopReason;
import io.dynamo.inference.Usage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The native APIs of vLLM and SGLang: token ids in, token ids out. */
class NativeGenerateTest {
  private final FrontendFixture frontend = new FrontendFixture();

  @BeforeEach
  void vllm() {
    frontend.api = TextService.VLLM_GENERATE;
    frontend.items =
        List.of(item(null, 72), item(null, 105), finished(FinishReason.EOS, new Usage(3, 3, 1), 3));
  }

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  private static EngineOutput item(@Nullable FinishReason finish, int... ids) {
    return new EngineOutput(ids, null, finish, null, 0, null);
  }

  private static EngineOutput finished(FinishReason reason, Usage usage, int... ids) {
    return EngineOutput.finish(reason, usage, ids);
  }

  private static String vllm(String params, String more) {
    return "{\"model\":\"script\",\"token_ids\":[5,6,7],\"sampling_params\":%s%s}"
        .formatted(params, more);
  }

  private static String sglang(String params, String more) {
    return "{\"input_ids\":[5,6,7],\"sampling_params\":%s%s}".formatted(params, more);
  }

  private JsonNode json(String body) throws IOException {
    var answer = frontend.post(body);
    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    return PlayedScript.JSON.readTree(answer.text());
  }

  private GenerateRequest asked() {
    return Objects.requireNonNull(frontend.asked);
  }

  private void takesOwnRequests(String flag) {
    frontend.runtimeConfig = Map.of("runtime_data", Map.of(flag, true));
  }

  @Test
  void vllmsAnswerHasTheTokensOfEachChoice() {
    var answer = frontend.post(vllm("{\"max_tokens\":5}", ",\"request_id\":\"r1\""));

    assertThat(answer.text())
        .isEqualTo(
            "{\"request_id\":\"r1\",\"choices\":[{\"index\":0,\"token_ids\":[72,105,3],"
                + "\"logprobs\":null,\"finish_reason\":\"stop\",\"routed_experts\":null,"
                + "\"sampling_mask\":null}],\"prompt_logprobs\":null,\"kv_transfer_params\":null}");
    assertThat(asked().tokenIds()).containsExactly(5, 6, 7);
    assertThat(asked().stop().maxTokens()).isEqualTo(5);
    assertThat(asked().eosTokenIds()).containsExactly(3);
    assertThat(asked().extraArgs()).doesNotContainKey("vllm_tito");
  }

  @Test
  void vllmsStreamHasTheNewTokensInEachEvent() {
    var text =
        frontend
            .post(
                vllm(
                    "{}",
                    ",\"stream\":true,\"stream_options\":{\"include_usage\":true}"
                        + ",\"request_id\":\"r\""))
            .text();

    assertThat(text)
        .containsSubsequence(
            "{\"request_id\":\"r\",\"choices\":[{\"index\":0,\"token_ids\":[72],",
            "\"token_ids\":[105],\"logprobs\":null,\"finish_reason\":null",
            "\"token_ids\":[3],\"logprobs\":null,\"finish_reason\":\"stop\"",
            "\"choices\":[],\"prompt_logprobs\":null,\"kv_transfer_params\":null,"
                + "\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":3,\"total_tokens\":6")
        .endsWith("data: [DONE]\n\n");
  }

  @Test
  void aWorkerThatTakesVllmsRequestsGetsTheWholeOfIt() throws IOException {
    takesOwnRequests("vllm_inference_v1_generate");

    json(
        vllm(
            "{\"max_tokens\":5,\"odd\":1}",
            ",\"request_id\":\"r1\",\"cache_salt\":\"s\",\"kv_transfer_params\":{\"a\":1}"));

    assertThat(asked().extraArgs().get("vllm_tito"))
        .isEqualTo(
            Map.of(
                "request_id",
                "r1",
                "sampling_params",
                Map.of("max_tokens", 5, "odd", 1),
                "model",
                "script",
                "stream",
                false,
                "priority",
                0,
                "cache_salt",
                "s",
                "kv_transfer_params",
                Map.of("a", 1)));
    assertThat(asked().mayMoveAfter(0)).isTrue();
    assertThat(asked().mayMoveAfter(1)).isFalse();
    assertThat(frontend.post(vllm("{\"n\":2}", "")).status).isEqualTo(400);
  }

  @Test
  void fieldsThatNobodyWouldSeeAreRefusedByName() {
    assertThat(frontend.post(vllm("{\"odd\":1}", "")).text())
        .contains("`sampling_params.odd` is not understood here")
        .contains("vLLM");
    assertThat(frontend.post(vllm("{}", ",\"features\":{}")).text()).contains("`features`");
    assertThat(frontend.post(vllm("{}", ",\"kv_transfer_params\":{}")).status).isEqualTo(400);
    assertThat(frontend.asked).isNull();
  }

  @Test
  void samplingOptionsReachAnyWorker() throws IOException {
    json(
        vllm(
            "{\"temperature\":0.5,\"top_k\":4,\"seed\":9,\"stop_token_ids\":[8],\"ignore_eos\":false,"
                + "\"min_tokens\":1,\"max_tokens\":4,\"logit_bias\":{\"1\":2}}",
            ",\"priority\":-2"));

    assertThat(asked().sampling().temperature()).isEqualTo(0.5f);
    assertThat(asked().sampling().topK()).isEqualTo(4);
    assertThat(asked().sampling().seed()).isEqualTo(9);
    assertThat(asked().stop().stopTokenIds()).containsExactly(8);
    assertThat(asked().stop().minTokens()).isEqualTo(1);
    assertThat(asked().extraArgs()).containsKey("sampling_options");
    assertThat(asked().routing().toString()).contains("priority=2");
  }

  @Test
  void severalChoicesAreAnsweredByIndex() throws IOException {
    frontend.scripts =
        List.of(List.of(item(FinishReason.LENGTH, 65)), List.of(item(FinishReason.LENGTH, 66)));

    var choices = json(vllm("{\"n\":2,\"temperature\":1}", "")).get("choices");

    assertThat(choices).hasSize(2);
    assertThat(choices.at("/0/token_ids").toString()).isEqualTo("[65]");
    assertThat(choices.at("/1/token_ids").toString()).isEqualTo("[66]");
    assertThat(choices.at("/1/finish_reason").asText()).isEqualTo("length");
  }

  @Test
  void logprobsNameTokensByTheirIds() throws IOException {
    var given =
        new Logprobs(
            null, new double[] {-0.5}, List.of(List.of(new Logprobs.Top(1, 72, null, -0.5, null))));
    frontend.items =
        List.of(
            new EngineOutput(
                new int[] {72},
                null,
                FinishReason.LENGTH,
                null,
                0,
                null,
                given,
                null,
                PassedOn.NONE));

    var token = json(vllm("{\"logprobs\":1}", "")).at("/choices/0/logprobs/content/0");

    assertThat(token.get("token").asText()).isEqualTo("token_id:72");
    assertThat(token.get("logprob").asDouble()).isEqualTo(-0.5);
    frontend.api = TextService.SGLANG_GENERATE;
    var meta =
        json(sglang("{}", ",\"return_logprob\":true,\"top_logprobs_num\":1")).get("meta_info");
    assertThat(meta.get("output_token_logprobs").toString()).isEqualTo("[[-0.5,72,null]]");
    assertThat(meta.get("output_top_logprobs").toString()).isEqualTo("[[[-0.5,72,null]]]");
  }

  @Test
  void engineDataIsReturned() throws IOException {
    frontend.items =
        List.of(
            item(FinishReason.EOS, 65)
                .withPassedOn(
                    PassedOn.of(
                        Map.of(
                            "engine_data",
                            Map.of("routed_experts", "xx", "prompt_logprobs", List.of(1)),
                            "disaggregated_params",
                            Map.of("kv_transfer_params", Map.of("host", "a"))))));

    var answer = json(vllm("{}", ""));

    assertThat(answer.at("/choices/0/routed_experts").asText()).isEqualTo("xx");
    assertThat(answer.get("prompt_logprobs").toString()).isEqualTo("[1]");
    assertThat(answer.at("/kv_transfer_params/host").asText()).isEqualTo("a");
  }

  @Test
  void aModelNeedNotBeNamedWhereThereIsOne() throws IOException {
    assertThat(json("{\"token_ids\":[1]}").at("/choices/0/token_ids")).hasSize(3);

    frontend.modelTypes = java.util.Set.of("Embedding");
    assertThat(frontend.post("{\"token_ids\":[1]}").status).isEqualTo(404);
    assertThat(frontend.post(vllm("{}", "")).status).isEqualTo(404);
  }

  @Test
  void theHeadersIdWinsInVllmAndTheBodysInSglang() {
    var headers = Map.of("x-request-id", "outer");
    assertThat(post(vllm("{}", ",\"request_id\":\"inner\""), headers))
        .startsWith("{\"request_id\":\"outer\"");
    frontend.api = TextService.SGLANG_GENERATE;
    assertThat(post(sglang("{}", ",\"rid\":\"inner\""), headers)).contains("\"id\":\"inner\"");
    assertThat(post(sglang("{}", ""), headers)).contains("\"id\":\"outer\"");
  }

  private String post(String body, Map<String, String> headers) {
    return frontend.post(body.getBytes(StandardCharsets.UTF_8), headers).text();
  }

  @Test
  void promptsThatAreNoneAreRefused() {
    assertThat(frontend.post("{\"model\":\"script\",\"token_ids\":[]}").text())
        .contains("token_ids must contain at least one token ID.");
    assertThat(frontend.post("{\"model\":\"script\"}").text())
        .contains("missing field `token_ids`");
    assertThat(frontend.post("{\"model\":\"script\",\"token_ids\":[99999999]}").text())
        .contains("invalid_token_id");
    assertThat(frontend.post(vllm("{\"max_tokens\":0}", "")).status).isEqualTo(400);
    assertThat(frontend.post(vllm("{\"max_tokens\":1,\"min_tokens\":2}", "")).text())
        .contains("min_tokens 2 is more than max_tokens 1");
    assertThat(frontend.post(vllm("{}", ",\"request_id\":\"" + "x".repeat(129) + "\"")).status)
        .isEqualTo(400);
  }

  @Test
  void sglangsAnswerHasTextAndTokens() {
    frontend.api = TextService.SGLANG_GENERATE;

    var answer = frontend.post(sglang("{\"max_new_tokens\":5}", ",\"rid\":\"r1\""));

    assertThat(answer.text())
        .isEqualTo(
            "{\"text\":\"Hi\",\"output_ids\":[72,105,3],\"meta_info\":{\"id\":\"r1\","
                + "\"finish_reason\":{\"type\":\"stop\"},\"prompt_tokens\":3,"
                + "\"completion_tokens\":3,\"cached_tokens\":1}}");
    assertThat(asked().stop().maxTokens()).isEqualTo(5);
  }

  @Test
  void sglangsStreamHasTheNewTextAndTokensInEachEvent() {
    frontend.api = TextService.SGLANG_GENERATE;

    var text = frontend.post(sglang("{}", ",\"stream\":true")).text();

    assertThat(text)
        .containsSubsequence(
            "{\"text\":\"H\",\"output_ids\":[72],",
            "{\"text\":\"i\",\"output_ids\":[105],",
            "\"output_ids\":[3],",
            "\"finish_reason\":{\"type\":\"stop\"}")
        .endsWith("data: [DONE]\n\n");
  }

  @Test
  void sglangsStopIsNamed() throws IOException {
    frontend.api = TextService.SGLANG_GENERATE;
    frontend.items =
        List.of(
            new EngineOutput(
                new int[] {72},
                null,
                FinishReason.STOP,
                null,
                0,
                null,
                null,
                new StopReason.Token(72),
                PassedOn.NONE));

    var meta = json(sglang("{\"stop_token_ids\":[72]}", "")).get("meta_info");

    assertThat(meta.at("/finish_reason/matched").asInt()).isEqualTo(72);
  }

  @Test
  void sglangTakesTextToo() throws IOException {
    frontend.api = TextService.SGLANG_GENERATE;

    json("{\"text\":\"hello\"}");

    assertThat(frontend.encoded).isEqualTo("hello");
    assertThat(frontend.post("{\"text\":\"hello\",\"input_ids\":[1]}").status).isEqualTo(400);
  }

  @Test
  void sglangsInternalFieldsAndParallelSamplingAreRefused() {
    frontend.api = TextService.SGLANG_GENERATE;

    assertThat(frontend.post(sglang("{}", ",\"bootstrap_host\":\"x\"")).text())
        .contains("`bootstrap_host` is internal Dynamo routing state and cannot be set by clients");
    assertThat(frontend.post(sglang("{\"n\":2}", "")).text())
        .contains("sampling_params.n must be 1; parallel sampling is not supported.");
  }

  @Test
  void sglangResponsesAreForwardedAsAStream() {
    frontend.api = TextService.SGLANG_GENERATE;
    takesOwnRequests("sglang_generate");
    frontend.items =
        List.of(
            item(FinishReason.EOS)
                .withPassedOn(
                    PassedOn.of(
                        Map.of("engine_data", Map.of("sglang_response", Map.of("text", "x"))))));

    var text = frontend.post(sglang("{}", ",\"stream\":true,\"odd\":1,\"rid\":\"r\"")).text();

    assertThat(text).isEqualTo("data: {\"text\":\"x\"}\n\ndata: [DONE]\n\n");
    assertThat(asked().extraArgs().get("sglang_tito"))
        .isEqualTo(Map.of("rid", "r", "stream", true, "odd", 1, "sampling_params", Map.of()));
    assertThat(frontend.post(sglang("{}", "")).status).isEqualTo(501);
  }

  @Test
  void aBrokenStreamEndsWithAnError() {
    frontend.items = List.of(item(null, 72));
    frontend.failure = new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "broken", null);

    var text = frontend.post(vllm("{}", ",\"stream\":true")).text();

    assertThat(text).contains("\"token_ids\":[72]").contains("{\"error\":{\"message\":");
    assertThat(text).endsWith("data: [DONE]\n\n");
  }
}
