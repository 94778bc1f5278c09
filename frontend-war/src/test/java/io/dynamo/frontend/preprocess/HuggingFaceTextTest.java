package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.frontend.postprocess.TextAssembler;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.StopConditions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class HuggingFaceTextTest {
  static final Path TINY = Path.of("../server-config/src/main/liberty/config/models/tiny");
  private static HuggingFaceText text;

  /** A prompt with its ids and the model's answer, recorded with PyTorch and transformers. */
  record Golden(
      String name,
      Map<String, Object> request,
      String prompt_text,
      int[] prompt_ids,
      int[] output_ids,
      String output_text,
      double smallest_margin,
      String finish) {
    @Override
    public String toString() {
      return name;
    }
  }

  @BeforeAll
  static void open() {
    text = HuggingFaceText.open(TINY);
  }

  @AfterAll
  static void close() {
    text.close();
    text.close();
  }

  static Stream<Golden> goldens() throws IOException {
    try (var in = HuggingFaceTextTest.class.getResourceAsStream("/tiny/golden.json")) {
      return new ObjectMapper()
          .readValue(Objects.requireNonNull(in), new TypeReference<List<Golden>>() {}).stream();
    }
  }

  @ParameterizedTest
  @MethodSource("goldens")
  @SuppressWarnings("unchecked")
  void rendersAndEncodesTheGoldenPrompts(Golden golden) {
    var request = golden.request();
    var prompt = (String) request.get("prompt");
    if (prompt == null) {
      var args = new HashMap<>(request);
      var messages = (List<Map<String, Object>>) Objects.requireNonNull(args.remove("messages"));
      var tools = (List<Map<String, Object>>) args.remove("tools");
      prompt =
          text.render(new ChatPrompt(messages, tools == null ? List.of() : tools, args)).text();
    }

    assertThat(prompt).isEqualTo(golden.prompt_text());
    assertThat(text.encode(prompt)).isEqualTo(golden.prompt_ids());
  }

  @ParameterizedTest
  @MethodSource("goldens")
  void assemblesTheGoldenAnswers(Golden golden) {
    var stop = new StopConditions(null, List.of(), List.of(), null, false);
    var assembler = new TextAssembler(text.tokens(), stop, text.eosTokenIds(), false, false);
    var answer = new StringBuilder();
    FinishReason finish = null;
    for (int id : golden.output_ids()) {
      var delta = assembler.accept(EngineOutput.ofTokens(id));
      answer.append(delta.text());
      finish = delta.finish();
    }
    answer.append(assembler.accept(EngineOutput.finish(FinishReason.LENGTH, null)).text());

    boolean ended = golden.finish().equals("stop");
    assertThat(finish).isEqualTo(ended ? FinishReason.EOS : null);
    assertThat(answer.toString())
        .isEqualTo(golden.output_text().replace("<|im_end|>", "").replace("<|endoftext|>", ""));
  }

  @Test
  void knowsTheEndOfTextIds() {
    assertThat(text.eosTokenIds()).containsExactly(4089, 4087);
    assertThat(text.tokens().isSpecial(4089)).isTrue();
    assertThat(text.tokens().isSpecial(4090)).isFalse();
    assertThat(new String(text.tokens().bytes(4090), StandardCharsets.UTF_8)).isEqualTo("<think>");
    assertThat(text.tokens().size()).isEqualTo(4096);
    assertThat(text.tokens().bytes(4096)).isEmpty();
    assertThat(text.tokens().bytes(-1)).isEmpty();
  }

  @Test
  void joinsTextPartsByNewlines() {
    var parts = List.of(Map.of("type", "text", "text", "a"), Map.of("type", "text", "text", "b"));

    assertThat(
            text.render(
                    new ChatPrompt(
                        List.of(Map.of("role", "user", "content", parts)), List.of(), Map.of()))
                .text())
        .isEqualTo("<|im_start|>user\na\nb<|im_end|>\n<|im_start|>assistant\n");
  }

  @Test
  void parsesArgumentsForTemplatesThatDoNotTestForStrings() {
    var files =
        Map.of(
            "tokenizer.json", "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]}}",
            "chat_template.jinja", "{{ messages[0].tool_calls[0].function.arguments | tojson }}");
    var function = Map.<String, Object>of("name", "f", "arguments", "{\"b\":1,\"a\":[2]}");
    var message =
        Map.<String, Object>of(
            "role", "assistant", "tool_calls", List.of(Map.of("function", function)));
    try (var own = HuggingFaceText.of(files)) {
      assertThat(own.render(new ChatPrompt(List.of(message), List.of(), Map.of())).text())
          .isEqualTo("{\"b\": 1, \"a\": [2]}");
    }
  }

  @Test
  void answersWithTheMessageOfTheTemplate() {
    var files =
        Map.of(
            "tokenizer.json", "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]}}",
            "tokenizer_config.json",
                "{\"chat_template\": [{\"name\": \"default\", \"template\": \"{{ raise_exception('no ' + messages[0].role) }}\"}]}");
    try (var own = HuggingFaceText.of(files)) {
      var prompt =
          new ChatPrompt(List.of(Map.of("role", "king", "content", "x")), List.of(), Map.of());
      assertThatThrownBy(() -> own.render(prompt))
          .isInstanceOf(InvalidRequestException.class)
          .hasMessage("no king");
    }
  }

  @Test
  void refusesABrokenTokenizer() {
    assertThatThrownBy(
            () -> HuggingFaceText.of(Map.of("tokenizer.json", "{\"model\":{\"vocab\":{}}}")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("tokenizer.json");
    assertThatThrownBy(() -> HuggingFaceText.of(Map.of())).hasMessageContaining("tokenizer.json");
  }

  @Test
  void stripsNulAndLoneSurrogates() {
    assertThat(text.encode("a\0b")).isEqualTo(text.encode("ab"));
    assertThat(text.encode("a\uD83Db")).isEqualTo(text.encode("a\uFFFDb"));
    assertThat(text.encode("")).isEmpty();
  }

  @Test
  void encodesNothingOnceClosed() {
    var own = HuggingFaceText.open(TINY);
    own.close();

    assertThatThrownBy(() -> own.encode("a")).isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8})
  void detokenizesRandomIdsAsTheLibraryDoes(long seed) {
    var random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      var ids = random.ints(1 + random.nextInt(40), 0, random.nextBoolean() ? 256 : 4096).toArray();
      DetokenizerOracle.assertAgrees(TINY, text.tokens(), ids);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8})
  void brokenBytesComeOutAsTheLibraryReplacesThem(long seed) {
    var idOfByte = new int[256];
    for (int id = 0; id < text.tokens().size(); id++) {
      var bytes = text.tokens().bytes(id);
      if (bytes.length == 1) {
        idOfByte[bytes[0] & 0xFF] = id;
      }
    }
    int[] edges = {
      'a', 0x80, 0xBF, 0xC0, 0xC3, 0xE0, 0xA0, 0xED, 0x9F, 0xEF, 0xF0, 0x90, 0xF4, 0x8F, 0xF5, 0xFF
    };
    var random = new Random(seed);
    for (int round = 0; round < 2000; round++) {
      var ids =
          random
              .ints(1 + random.nextInt(12), 0, edges.length)
              .map(i -> idOfByte[edges[i]])
              .toArray();
      DetokenizerOracle.assertAgrees(TINY, text.tokens(), ids);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "The quick brown fox.",
        "Ünïcödé, straße, naïve",
        "漢字とかな交じり文",
        "Привет, мир",
        "مرحبا بالعالم",
        "नमस्ते दुनिया",
        "🙂👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿 flags 🇩🇪",
        "  leading and trailing  ",
        "\n\n\ttabs\r\n",
        "<|im_start|>user\nhi<|im_end|> <think>x</think>"
      })
  void detokenizesRealTextExactly(String sample) {
    var ids = text.encode(sample);

    assertThat(DetokenizerOracle.assertAgrees(TINY, text.tokens(), ids)).isEqualTo(sample);
  }
}
