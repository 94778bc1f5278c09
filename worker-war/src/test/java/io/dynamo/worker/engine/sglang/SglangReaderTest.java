package io.dynamo.worker.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs.Top;
import io.dynamo.inference.StopReason;
import io.dynamo.worker.engine.remote.Chunk;
import io.dynamo.worker.engine.remote.Pieces;
import io.dynamo.worker.engine.remote.Recording;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads answers of a live SGLang 0.5.23, byte for byte as they were recorded. */
class SglangReaderTest {
  private static final String STREAM = "04-stream";
  private static final int[] STREAMED = {
    618, 411, 473, 311, 267, 756, 510, 11, 267, 756, 510, 311, 267, 756, 510, 13, 476, 691, 510, 311
  };

  private static SglangReader reader() {
    return new SglangReader(new int[] {7}, 2);
  }

  private static byte[] answer(String name) {
    return Recording.of("sglang-0.5.23/http/" + name + ".txt").answer();
  }

  private static Chunk read(SglangReader reader, String message) {
    return Objects.requireNonNull(
        reader.read(("data: " + message).getBytes(StandardCharsets.UTF_8)));
  }

  private static Chunk read(String message) {
    return read(reader(), message);
  }

  private static String message(String ids, int total, String finish) {
    return "{\"output_ids\":%s,\"meta_info\":{\"finish_reason\":%s,\"completion_tokens\":%d,\"cached_tokens\":0}}"
        .formatted(ids, finish, total);
  }

  @Test
  void theNewTokensOfCumulativeMessagesAreReturnedOnce() throws Exception {
    var chunks = Pieces.read(answer(STREAM), 0, reader());
    assertThat(Pieces.tokens(chunks)).containsExactly(STREAMED);
    assertThat(chunks).hasSize(STREAMED.length + 1);
    assertThat(chunks.getLast()).isEqualTo(Chunk.END);
    assertThat(chunks.get(STREAMED.length - 1).finish()).isEqualTo(FinishReason.LENGTH);
    assertThat(chunks.getFirst().cached()).isEqualTo(32);
  }

  @Test
  void aStreamCutAtAnyByteHasTheSameTokens() throws Exception {
    var bytes = answer(STREAM);
    for (int cut = 1; cut < bytes.length; cut++) {
      assertThat(Pieces.tokens(Pieces.read(bytes, cut, reader())))
          .as("cut at %d", cut)
          .containsExactly(STREAMED);
    }
  }

  @Test
  void messagesWithTheNewTokensAloneAreReadAsSuch() {
    var reader = reader();
    assertThat(read(reader, message("[5]", 1, "null")).tokens()).containsExactly(5);
    assertThat(read(reader, message("[6]", 2, "null")).tokens()).containsExactly(6);
    assertThat(read(reader, message("[8,9]", 4, "null")).tokens()).containsExactly(8, 9);
    assertThat(read(reader, message("[]", 4, "{\"type\":\"length\"}")).tokens()).isEmpty();
  }

  @Test
  void cumulativeMessagesMayBringSeveralTokensOrNone() {
    var reader = reader();
    assertThat(read(reader, message("[5]", 1, "null")).tokens()).containsExactly(5);
    assertThat(read(reader, message("[5]", 1, "null")).tokens()).isEmpty();
    assertThat(read(reader, message("[5,6,8]", 3, "null")).tokens()).containsExactly(6, 8);
    assertThatThrownBy(() -> read(reader, message("[5]", 9, "null")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 tokens after 3");
  }

  @ParameterizedTest
  @CsvSource({
    "01-generate-100-tokens, 20, 0",
    "02-same-again, 4, 96",
    "03-shared-prefix-64, 4, 64",
    "06-rid-ignore-eos, 4, 32",
    "12-bootstrap-fields-without-disagg, 20, 32",
    "22-after-flush, 2, 0",
  })
  void aWholeAnswerHasItsTokensItsEndAndItsCachedTokens(String name, int tokens, int cached)
      throws Exception {
    var chunks = Pieces.read(answer(name), 0, reader());
    assertThat(chunks).hasSize(1);
    assertThat(chunks.getFirst().tokens()).hasSize(tokens);
    assertThat(chunks.getFirst().finish()).isEqualTo(FinishReason.LENGTH);
    assertThat(chunks.getFirst().cached()).isEqualTo(cached);
  }

  @Test
  void logProbabilitiesComeWithTheirTokenIds() throws Exception {
    var chunk = Pieces.read(answer("05-logprob"), 0, reader()).getFirst();
    assertThat(chunk.logprobs())
        .containsExactly(-2.8108973503112793, -1.3871033191680908, -3.8343617916107178);
    assertThat(chunk.top())
        .hasSize(3)
        .first()
        .isEqualTo(
            List.of(
                new Top(1, 618, null, -2.8108973503112793, null),
                new Top(2, 287, null, -2.8180861473083496, null)));
  }

  @Test
  void theEndSaysWhetherTheClientOrTheModelStopped() {
    var client = read(message("[7]", 1, "{\"type\":\"stop\",\"matched\":7}"));
    assertThat(client.finish()).isEqualTo(FinishReason.STOP);
    assertThat(client.stop()).isEqualTo(new StopReason.Token(7));
    var model = read(message("[2]", 1, "{\"type\":\"stop\",\"matched\":2}"));
    assertThat(model.finish()).isEqualTo(FinishReason.EOS);
    assertThat(model.stop()).isNull();
  }

  @Test
  void failuresInAStreamAreTyped() {
    assertThatThrownBy(() -> read("{\"error\":{\"message\":\"too long\"}}"))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("too long");
    var begun = reader();
    read(begun, message("[5]", 1, "null"));
    assertThatThrownBy(() -> read(begun, "{\"error\":{\"message\":\"broken\"}}"))
        .isInstanceOf(WorkerLostException.class);
    assertThatThrownBy(() -> read(message("[]", 0, "{\"type\":\"abort\",\"message\":\"bye\"}")))
        .isInstanceOf(WorkerLostException.class);
    assertThatThrownBy(
            () ->
                read(
                    message(
                        "[]", 0, "{\"type\":\"abort\",\"message\":\"full\",\"status_code\":503}")))
        .isInstanceOf(WorkerBusyException.class);
    assertThatThrownBy(() -> read(message("[]", 0, "{\"type\":\"melted\"}")))
        .hasMessageContaining("melted");
  }

  @Test
  void malformedMessagesAreRefused() {
    for (var line :
        List.of(
            "{}",
            "{\"output_ids\":[1]}",
            "{\"output_ids\":[\"a\"],\"meta_info\":{\"completion_tokens\":1}}",
            "{\"output_ids\":[1],\"meta_info\":{\"completion_tokens\":1,\"output_token_logprobs\":[]}}",
            "{\"output_ids\":[1],\"meta_info\":{\"completion_tokens\":1,\"output_token_logprobs\":[3]}}")) {
      assertThatThrownBy(() -> read(line)).as(line).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
