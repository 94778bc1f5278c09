package io.dynamo.worker.engine.openai;

import static io.dynamo.worker.engine.openai.OpenAiEngineContractTest.VOCABULARY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.FinishReason;
import io.dynamo.worker.engine.remote.Chunk;
import io.dynamo.worker.engine.remote.Pieces;
import io.dynamo.worker.engine.remote.Recording;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads answers of vLLM 0.32.0 and of llama.cpp's server, byte for byte as they were recorded. */
class OpenAiReaderTest {
  private static final String STREAM = "vllm-0.32.0/http/30-completion-stream.txt";

  private static List<Chunk> read(byte[] answer, int cut) throws Exception {
    return Pieces.read(answer, cut, new OpenAiReader(VOCABULARY));
  }

  private static String text(List<Chunk> chunks) {
    return VOCABULARY.text(Pieces.tokens(chunks));
  }

  @Test
  void aStreamCutAtAnyByteHasTheSameText() throws Exception {
    var bytes = Recording.of(STREAM).answer();
    var whole = read(bytes, 0);
    assertThat(text(whole)).startsWith(" in ").isEqualTo(expected(bytes));
    assertThat(whole.getLast()).isEqualTo(Chunk.END);
    assertThat(whole.stream().map(Chunk::finish).filter(Objects::nonNull)).hasSize(1);
    for (int cut = 1; cut < bytes.length; cut++) {
      assertThat(text(read(bytes, cut))).as("cut at %d", cut).isEqualTo(text(whole));
    }
  }

  /** Returns the texts of all messages, found without a reader. */
  private static String expected(byte[] answer) {
    var texts = new StringBuilder();
    var all = new String(answer, StandardCharsets.UTF_8);
    var each = Pattern.compile("\"index\":0,\"text\":\"([^\"\\\\]*)\"").matcher(all);
    while (each.find()) {
      texts.append(each.group(1));
    }
    return texts.toString();
  }

  @ParameterizedTest
  @CsvSource({
    "vllm-0.32.0/http/02-same-prompt-again.txt, 96",
    "llama-server/http/10-v1-completions-ids.txt, 33",
  })
  void aWholeAnswerHasItsTextItsEndAndItsCachedTokens(String name, int cached) throws Exception {
    var chunks = read(Recording.of(name).answer(), 0);
    assertThat(chunks).hasSize(1);
    assertThat(text(chunks)).isNotEmpty();
    assertThat(chunks.getFirst().finish()).isEqualTo(FinishReason.LENGTH);
    assertThat(chunks.getFirst().cached()).isEqualTo(cached);
  }

  private static byte[] message(String text, String finish) {
    return "data: {\"choices\":[{\"index\":0,\"text\":\"%s\",\"finish_reason\":%s}]}"
        .formatted(text, finish)
        .getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void aCharacterInTwoMessagesIsWhole() {
    var reader = new OpenAiReader(VOCABULARY);
    var first = Objects.requireNonNull(reader.read(message("a\\ud83d", "null")));
    var second = Objects.requireNonNull(reader.read(message("\\ude00b", "null")));
    assertThat(VOCABULARY.text(first.tokens())).isEqualTo("a");
    assertThat(VOCABULARY.text(second.tokens())).isEqualTo("\uD83D\uDE00b");
  }

  @ParameterizedTest
  @CsvSource({"stop, EOS", "eos_token, EOS", "length, LENGTH", "content_filter, CONTENT_FILTER"})
  void endsAreThoseOfTheServer(String reason, FinishReason expected) {
    var chunk = new OpenAiReader(VOCABULARY).read(message("a", "\"" + reason + "\""));
    assertThat(Objects.requireNonNull(chunk).finish()).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"abort", "error", "cancelled"})
  void anEndThatIsTheServersFaultLetsTheTextGoOnElsewhere(String reason) {
    assertThatThrownBy(() -> new OpenAiReader(VOCABULARY).read(message("a", "\"" + reason + "\"")))
        .isInstanceOf(WorkerLostException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"data: {\"choices\":[{\"text\":7}]}", "data: []", "<html>", "data: {"})
  void otherAnswersAreNotUnderstood(String line) {
    assertThatThrownBy(
            () -> new OpenAiReader(VOCABULARY).read(line.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
