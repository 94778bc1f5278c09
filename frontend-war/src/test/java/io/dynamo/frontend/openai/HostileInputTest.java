package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.frontend.openai.FrontendFixture.Recorded;
import io.dynamo.frontend.sse.DisconnectWatcher;
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
 * Whatever a client sends gets a typed answer, soon, and nothing of it reaches a log. A small heap
 * is not needed to see a body that grows: each request's bodies and answers are bounded here.
 */
@Timeout(120)
class HostileInputTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SECRET = "xyzzy-plugh";
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final int LONGEST_ANSWER = 16 * 1024;

  private static final List<String> FIELDS =
      List.of(
          "model",
          "messages",
          "prompt",
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

  private static final List<String> NESTED =
      List.of(
          "nvext/annotations",
          "nvext/extra_fields",
          "nvext/token_data",
          "nvext/backend_instance_id",
          "nvext/dp_rank",
          "nvext/max_thinking_tokens",
          "nvext/cache_salt",
          "nvext/metadata_upload",
          "nvext/agent_hints",
          "nvext/request_timestamp_ms",
          "nvext/routing_constraints",
          "nvext/router",
          "nvext/greed_sampling",
          "stream_options/include_usage",
          "response_format/type",
          "response_format/json_schema",
          "thinking/type",
          "logit_bias/1");

  static final List<String> VALUES =
      List.of(
          "null",
          "true",
          "false",
          "0",
          "-1",
          "1",
          "0.5",
          "-0.0",
          "1e-320",
          "1e308",
          "1e999",
          "-1e999",
          "NaN",
          "Infinity",
          "-Infinity",
          "+1",
          "01",
          "0x10",
          "4294967295",
          "4294967296",
          "-2147483649",
          "9223372036854775807",
          "9223372036854775808",
          "18446744073709551615",
          "18446744073709551616",
          "9".repeat(399),
          "9".repeat(100_000),
          "0." + "1".repeat(100_000),
          "1e" + "9".repeat(100),
          "\"\"",
          "\" \"",
          "\"" + SECRET + "\"",
          "\"\\ud800\"",
          "\"\\udc00\\ud800\"",
          "\"\\u0000\"",
          "\"" + SECRET.repeat(20_000) + "\"",
          "[]",
          "[[]]",
          "[null]",
          "[1,\"a\"]",
          "[\"" + SECRET + "\"]",
          "[-1]",
          "[1e999]",
          "[" + "1,".repeat(50_000) + "1]",
          "[" + "\"a\",".repeat(50_000) + "\"a\"]",
          "[" + "[1],".repeat(50_000) + "[1]]",
          "[".repeat(120) + "]".repeat(120),
          "[".repeat(200) + "]".repeat(200),
          "[".repeat(100_000),
          "{}",
          "{\"" + SECRET + "\":\"" + SECRET + "\"}",
          "{\"a\":1,\"a\":2}",
          "{\"a\":{\"a\":{\"a\":null}}}",
          "{\"type\":\"" + SECRET + "\"}",
          "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"" + SECRET + "\",\"schema\":5}}",
          "{\"a\":".repeat(200) + "1" + "}".repeat(200),
          "'a'",
          "undefined",
          "// comment",
          "");

  private final FrontendFixture frontend =
      new FrontendFixture(
          Duration.ofSeconds(30),
          new DisconnectWatcher(null, Duration.ofHours(1), Duration.ofHours(1), loop -> {}),
          4 << 20);
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
  }

  @AfterEach
  void nothingOfAnyoneIsInTheLog() {
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
    return List.of(TextService.CHAT, TextService.COMPLETIONS);
  }

  private static String body(Api api, String field, String value) {
    var body = new StringBuilder("{\"").append(field).append("\":").append(value);
    if (!field.equals("model")) {
      body.append(",\"model\":\"script\"");
    }
    if (api == TextService.CHAT && !field.equals("messages")) {
      body.append(",\"messages\":[{\"role\":\"user\",\"content\":\"").append(SECRET).append("\"}]");
    }
    if (api == TextService.COMPLETIONS && !field.equals("prompt")) {
      body.append(",\"prompt\":\"").append(SECRET).append("\"");
    }
    return body.append("}").toString();
  }

  private void sent(Api api, byte[] body, String what) throws Exception {
    frontend.api = api;
    var answer = new Recorded();
    long from = System.nanoTime();
    frontend.post(new ByteArrayInputStream(body), body.length, Map.of(), answer);
    assertThat(Duration.ofNanos(System.nanoTime() - from)).as(what).isLessThan(SOON);
    assertThat(answer.status).as("%s: %s", what, answer.text()).isIn(200, 400, 404, 501);
    assertThat(answer.body.size()).as(what).isLessThan(LONGEST_ANSWER);
    if (answer.status != 200) {
      var told = JSON.readTree(answer.text());
      assertThat(told.at("/error/message").isTextual()).as(what).isTrue();
      assertThat(told.at("/error/type").isTextual()).as(what).isTrue();
      assertThat(told.get("code").intValue()).as(what).isEqualTo(answer.status);
    }
  }

  @ParameterizedTest
  @MethodSource("apis")
  void everyFieldTakesEveryValueOrRefusesIt(Api api) throws Exception {
    for (var field : FIELDS) {
      for (var value : VALUES) {
        sent(api, body(api, field, value).getBytes(StandardCharsets.UTF_8), shown(field, value));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("apis")
  void everyNestedFieldTakesEveryValueOrRefusesIt(Api api) throws Exception {
    for (var path : NESTED) {
      var names = path.split("/", -1);
      for (var value : VALUES) {
        var inner = "{\"" + names[1] + "\":" + value + "}";
        sent(api, body(api, names[0], inner).getBytes(StandardCharsets.UTF_8), shown(path, value));
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
      for (var value : VALUES) {
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
      var api = apis().get(i % 2);
      var field = FIELDS.get(random.nextInt(FIELDS.size()));
      var value = VALUES.get(random.nextInt(VALUES.size()));
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
    var others = Set.of("prompt", "suffix", "echo", "best_of", "prompt_embeds", "unheard_of");
    for (var field : FIELDS) {
      var text = frontend.post(body(TextService.CHAT, field, "null")).text();
      assertThat(text.contains("Unsupported parameter"))
          .as(field)
          .isEqualTo(others.contains(field));
    }
  }
}
