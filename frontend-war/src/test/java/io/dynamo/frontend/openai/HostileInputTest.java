package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.frontend.openai.FrontendFixture.Recorded;
import io.dynamo.frontend.sse.FakeHangUps;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every hostile input gets a typed answer within a bounded time, and no part of it reaches a log. A
 * small heap is not needed to see a body that grows: each request's bodies and answers are bounded
 * here.
 */
@Timeout(120)
class HostileInputTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SECRET = HostileValues.SECRET;
  private static final Duration SOON = Duration.ofSeconds(20); // no hang, however busy the machine
  private static final int LONG_NESTED = 45_000; // characters
  private static final int LONGEST_ANSWER = 16 * 1024;

  private static final List<String> FIELDS =
      List.of(
          "model",
          "messages",
          "prompt",
          "system",
          "stop_sequences",
          "input",
          "instructions",
          "max_output_tokens",
          "text",
          "reasoning",
          "include",
          "conversation",
          "output_config",
          "suffix",
          "echo",
          "best_of",
          "prompt_embeds",
          "max_tokens",
          "max_completion_tokens",
          "min_tokens",
          "temperature",
          "top_p",
          "top_k",
          "min_p",
          "frequency_penalty",
          "presence_penalty",
          "repetition_penalty",
          "seed",
          "n",
          "stop",
          "stop_token_ids",
          "ignore_eos",
          "stream",
          "stream_options",
          "include_stop_str_in_output",
          "skip_special_tokens",
          "prompt_logprobs",
          "return_tokens_as_token_ids",
          "logit_bias",
          "guided_json",
          "guided_regex",
          "guided_choice",
          "guided_grammar",
          "guided_decoding_backend",
          "guided_whitespace_pattern",
          "cache_salt",
          "detokenize",
          "allowed_token_ids",
          "bad_words_token_ids",
          "logprob_token_ids",
          "logprobs",
          "top_logprobs",
          "user",
          "metadata",
          "nvext",
          "response_format",
          "tools",
          "tool_choice",
          "parallel_tool_calls",
          "chat_template_args",
          "chat_template_kwargs",
          "add_generation_prompt",
          "continue_final_message",
          "reasoning_effort",
          "thinking",
          "mm_processor_kwargs",
          "media_io_kwargs",
          "modalities",
          "prediction",
          "audio",
          "web_search_options",
          "store",
          "service_tier",
          "prompt_cache_key",
          "function_call",
          "functions",
          "unheard_of");

  /** Values inside of fields: what is around them, with %s where they are. */
  private static final List<String> NESTED =
      List.of(
          "nvext:{\"greed_sampling\":%s}",
          "nvext:{\"use_raw_prompt\":%s}",
          "nvext:{\"annotations\":%s}",
          "nvext:{\"annotations\":[%s]}",
          "nvext:{\"backend_instance_id\":%s}",
          "nvext:{\"prefill_worker_id\":%s}",
          "nvext:{\"decode_worker_id\":%s}",
          "nvext:{\"dp_rank\":%s}",
          "nvext:{\"prefill_dp_rank\":%s}",
          "nvext:{\"token_data\":%s}",
          "nvext:{\"max_thinking_tokens\":%s}",
          "nvext:{\"cache_salt\":%s}",
          "nvext:{\"extra_fields\":%s}",
          "nvext:{\"metadata_upload\":%s}",
          "nvext:{\"metadata_upload\":{\"url\":%s}}",
          "nvext:{\"agent_hints\":%s}",
          "nvext:{\"agent_hints\":{\"priority\":%s}}",
          "nvext:{\"agent_hints\":{\"strict_priority\":%s}}",
          "nvext:{\"agent_hints\":{\"osl\":%s}}",
          "nvext:{\"agent_hints\":{\"speculative_prefill\":%s}}",
          "nvext:{\"agent_hints\":{\"latency_sensitivity\":%s}}",
          "nvext:{\"request_timestamp_ms\":%s}",
          "nvext:{\"routing_constraints\":%s}",
          "nvext:{\"routing_constraints\":{\"required_taints\":%s}}",
          "nvext:{\"routing_constraints\":{\"allowed_worker_ids\":%s}}",
          "nvext:{\"router\":%s}",
          "nvext:{\"router\":{\"a\":%s}}",
          "nvext:%s",
          "stream_options:{\"include_usage\":%s}",
          "stream_options:{\"continuous_usage_stats\":%s}",
          "response_format:{\"type\":%s}",
          "response_format:{\"json_schema\":%s}",
          "response_format:{\"type\":\"json_schema\",\"json_schema\":%s}",
          "response_format:{\"type\":\"json_schema\",\"json_schema\":{\"name\":%s,\"schema\":{}}}",
          "response_format:{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\",\"schema\":%s}}",
          "thinking:{\"type\":%s}",
          "thinking:{\"type\":\"enabled\",\"budget_tokens\":%s}",
          "logit_bias:{\"1\":%s}",
          "metadata:{\"a\":%s}",
          "chat_template_args:{\"a\":%s}",
          "chat_template_args:{\"enable_thinking\":%s}",
          "tools:[%s]",
          "tools:[{\"type\":%s}]",
          "tools:[{\"type\":\"function\",\"function\":%s}]",
          "tools:[{\"type\":\"function\",\"function\":{\"name\":%s}}]",
          "tools:[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":%s}}]",
          "tools:[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"strict\":%s}}]",
          "tool_choice:{\"type\":%s}",
          "tool_choice:{\"type\":\"function\",\"function\":%s}",
          "tool_choice:{\"type\":\"function\",\"function\":{\"name\":%s}}",
          "stop:[%s]",
          "stop_token_ids:[%s]",
          "bad_words_token_ids:[%s]",
          "allowed_token_ids:[%s]",
          "guided_choice:[%s]",
          "guided_json:{\"type\":%s}",
          "prompt:[%s]",
          "prompt:[[%s]]",
          "messages:[%s]");

  private final FrontendFixture frontend =
      new FrontendFixture(Duration.ofSeconds(30), FakeHangUps.unwatched(), 8 << 20);
  private final List<LogRecord> logged = new ArrayList<>();
  private final Logger root = Logger.getLogger("io.dynamo");
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord record) {
          synchronized (logged) {
            logged.add(record);
          }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeEach
  void listen() {
    handler.setLevel(Level.ALL);
    root.setLevel(Level.ALL);
    root.addHandler(handler);
    frontend.items = List.of(new EngineOutput(new int[1], SECRET, FinishReason.EOS, null, 0, null));
    frontend.modelTypes = Set.of("Chat", "Completions", "Embedding");
  }

  @AfterEach
  void noTextOfAClientIsInTheLog() {
    root.removeHandler(handler);
    root.setLevel(null);
    assertThat(frontend.admission.admitted()).isZero();
    assertThat(frontend.bodies.heldBytes()).isZero();
    frontend.close();
    for (var record : logged) {
      var text = new StringBuilder(String.valueOf(record.getMessage()));
      if (record.getParameters() != null) {
        for (var parameter : record.getParameters()) {
          text.append(parameter);
        }
      }
      for (var thrown = record.getThrown(); thrown != null; thrown = thrown.getCause()) {
        text.append(thrown);
      }
      assertThat(text.toString()).doesNotContain(SECRET);
    }
  }

  static List<Api> apis() {
    return List.of(
        TextService.CHAT,
        TextService.COMPLETIONS,
        TextService.MESSAGES,
        TextService.RESPONSES,
        TextService.RESPONSES_COUNT,
        TextService.MESSAGES_COUNT,
        TextService.EMBEDDINGS,
        TextService.TOKENIZE,
        TextService.DETOKENIZE,
        TextService.VLLM_GENERATE,
        TextService.SGLANG_GENERATE);
  }

  private static String body(Api api, String field, String value) {
    var body = new StringBuilder("{\"").append(field).append("\":").append(value);
    if (!field.equals("model")) {
      body.append(",\"model\":\"script\"");
    }
    if (api.equals(TextService.MESSAGES) && !field.equals("max_tokens")) {
      body.append(",\"max_tokens\":50");
    }
    if (api.promptField().equals("input") && !field.equals("input")) {
      body.append(",\"input\":\"").append(SECRET).append("\"");
    }
    if (api.promptField().equals("messages") && !field.equals("messages")) {
      body.append(",\"messages\":[{\"role\":\"user\",\"content\":\"").append(SECRET).append("\"}]");
    }
    for (var tokens : List.of("tokens", "token_ids", "input_ids")) {
      if (api.promptField().equals(tokens) && !field.equals(tokens)) {
        body.append(",\"").append(tokens).append("\":[1,2]");
      }
    }
    if (api.promptField().equals("prompt") && !field.equals("prompt")) {
      body.append(",\"prompt\":\"").append(SECRET).append("\"");
    }
    return body.append("}").toString();
  }

  private void sent(Api api, byte[] body, String what) throws Exception {
    sent(api, body, Map.of(), what);
  }

  private void sent(Api api, byte[] body, Map<String, String> headers, String what)
      throws Exception {
    frontend.api = api;
    var answer = new Recorded();
    long from = System.nanoTime();
    frontend.post(new ByteArrayInputStream(body), body.length, headers, answer);
    assertThat(Duration.ofNanos(System.nanoTime() - from)).as(what).isLessThan(SOON);
    assertThat(answer.status).as("%s: %s", what, answer.text()).isIn(200, 400, 404, 501);
    if (answer.status != 200
        || !api.equals(TextService.RESPONSES)) { // whose answers repeat requests
      assertThat(answer.body.size()).as(what).isLessThan(LONGEST_ANSWER);
    }
    if (answer.status != 200) {
      var reply = JSON.readTree(answer.text());
      assertThat(reply.at("/error/message").isTextual()).as(what).isTrue();
      assertThat(reply.at("/error/type").isTextual()).as(what).isTrue();
      assertThat(reply.get("code").intValue()).as(what).isEqualTo(answer.status);
    }
  }

  @ParameterizedTest
  @MethodSource("apis")
  void everyFieldTakesEveryValueOrRefusesIt(Api api) throws Exception {
    for (var field : FIELDS) {
      for (var value : HostileValues.ALL) {
        sent(api, body(api, field, value).getBytes(StandardCharsets.UTF_8), shown(field, value));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("apis")
  void everyNestedFieldTakesEveryValueOrRefusesIt(Api api) throws Exception {
    for (var nested : NESTED) {
      var parts = nested.split(":", 2);
      for (var value : HostileValues.ALL) {
        if (value.length() > LONG_NESTED) {
          continue; // what bounds length does so at the top already
        }
        var body = body(api, parts[0], parts[1].replace("%s", value));
        sent(api, body.getBytes(StandardCharsets.UTF_8), shown(nested, value));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("apis")
  void aNumberOfMillionsOfDigitsIsRefusedByTheBound(Api api) throws Exception {
    for (var number : List.of("9".repeat(4_000_000), "0." + "9".repeat(4_000_000))) {
      var body = body(api, "seed", number).getBytes(StandardCharsets.UTF_8);
      sent(api, body, "a long number");
      frontend.api = api;
      var answer =
          frontend.post(new ByteArrayInputStream(body), body.length, Map.of(), new Recorded());
      assertThat(answer.status).isEqualTo(400);
      assertThat(answer.text()).contains("400 digits of a number");
    }
  }

  @ParameterizedTest
  @MethodSource("apis")
  void everyHeaderTakesEveryValue(Api api) throws Exception {
    var names =
        List.of(
            "x-dynamo-request-id",
            "traceparent",
            "tracestate",
            "x-dynamo-worker-instance-id",
            "x-dynamo-prefill-instance-id",
            "x-dynamo-dp-rank",
            "x-dynamo-prefill-dp-rank",
            "x-dynamo-request-priority",
            "x-dynamo-request-strict-priority",
            "x-tenant-id",
            "x-dynamo-session-id",
            "x-dynamo-parent-session-id",
            "x-dynamo-session-final",
            "x-claude-code-session-id",
            "x-codex-turn-metadata",
            "thread-id",
            "x-session-id");
    for (var name : names) {
      for (var value : HostileValues.ALL) {
        if (value.length() < 8192) { // as the server lets through
          sent(
              api, body(api, "n", "1").getBytes(StandardCharsets.UTF_8), Map.of(name, value), name);
        }
      }
    }
  }

  @Test
  void everyItemOfAnInputTakesEveryValueOrRefusesIt() throws Exception {
    var shapes =
        List.of(
            "input:[%s]",
            "input:[{\"role\":\"user\",\"content\":%s}]",
            "input:[{\"role\":\"user\",\"content\":[{\"type\":\"input_image\",\"image_url\":%s}]}]",
            "input:[{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"f\",\"arguments\":%s}]",
            "input:[{\"type\":\"function_call_output\",\"call_id\":\"a\",\"output\":%s}]",
            "input:[{\"type\":\"reasoning\",\"content\":%s}]",
            "tools:[{\"type\":\"function\",\"name\":\"f\",\"parameters\":%s}]",
            "tool_choice:{\"type\":\"allowed_tools\",\"mode\":\"auto\",\"tools\":%s}",
            "text:{\"format\":%s}",
            "reasoning:{\"effort\":%s}");
    for (var shape : shapes) {
      var parts = shape.split(":", 2);
      for (var value : HostileValues.ALL) {
        var body = body(TextService.RESPONSES, parts[0], parts[1].replace("%s", value));
        sent(TextService.RESPONSES, body.getBytes(StandardCharsets.UTF_8), shown(shape, value));
      }
    }
  }

  @Test
  void everyBlockOfAMessageTakesEveryValueOrRefusesIt() throws Exception {
    var shapes =
        List.of(
            "messages:[{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":%s}]}]",
            "messages:[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":%s}]}]",
            "messages:[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":%s}]}]",
            "messages:[{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":%s}]}]",
            "tools:[{\"name\":\"f\",\"input_schema\":%s}]",
            "tool_choice:{\"type\":%s}",
            "thinking:{\"type\":\"enabled\",\"budget_tokens\":%s}",
            "output_config:{\"effort\":%s}",
            "output_config:{\"format\":%s}");
    for (var shape : shapes) {
      var parts = shape.split(":", 2);
      for (var value : HostileValues.ALL) {
        var body = body(TextService.MESSAGES, parts[0], parts[1].replace("%s", value));
        sent(TextService.MESSAGES, body.getBytes(StandardCharsets.UTF_8), shown(shape, value));
      }
    }
  }

  @Test
  void everyPartOfAMessageTakesEveryValueOrRefusesIt() throws Exception {
    var shapes =
        List.of(
            "[{\"role\":%s,\"content\":\"a\"}]",
            "[{\"role\":\"user\",\"content\":%s}]",
            "[{\"role\":\"user\",\"content\":[%s]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":%s}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":%s}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":%s}]}]",
            "[{\"role\":\"assistant\",\"tool_calls\":%s}]",
            "[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"function\":%s}]}]",
            "[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":%s}}]}]",
            "[{\"role\":\"tool\",\"content\":\"a\",\"tool_call_id\":%s}]",
            "[{\"role\":\"assistant\",\"content\":\"a\",\"reasoning_content\":%s}]");
    for (var shape : shapes) {
      for (var value : HostileValues.ALL) {
        var body = body(TextService.CHAT, "messages", shape.replace("%s", value));
        sent(TextService.CHAT, body.getBytes(StandardCharsets.UTF_8), shown(shape, value));
      }
    }
  }

  private static String shown(String field, String value) {
    return field + "=" + (value.length() > 40 ? value.substring(0, 40) + "…" : value);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8, 13}) // the seed names the failing run
  void brokenBytesAreAnswered(long seed) throws Exception {
    var random = new Random(seed);
    for (int i = 0; i < 500; i++) {
      var api = apis().get(i % apis().size());
      var field = FIELDS.get(random.nextInt(FIELDS.size()));
      var value = HostileValues.ALL.get(random.nextInt(HostileValues.ALL.size()));
      var bytes =
          body(api, field, value.length() > 1000 ? "1" : value).getBytes(StandardCharsets.UTF_8);
      for (int hit = random.nextInt(4); hit >= 0; hit--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
      sent(api, bytes, "seed " + seed + " request " + i);
    }
  }

  @Test
  void onlyChatsOwnFieldsAreKnownToChat() {
    var others =
        Set.of(
            "input",
            "instructions",
            "max_output_tokens",
            "text",
            "reasoning",
            "include",
            "conversation",
            "system",
            "stop_sequences",
            "output_config",
            "prompt",
            "suffix",
            "echo",
            "best_of",
            "prompt_embeds",
            "unheard_of");
    for (var field : FIELDS) {
      var text = frontend.post(body(TextService.CHAT, field, "null")).text();
      assertThat(text.contains("Unsupported parameter"))
          .as(field)
          .isEqualTo(others.contains(field));
    }
  }
}
