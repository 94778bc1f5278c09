package io.dynamo.worker.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.DynamoException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs.Top;
import io.dynamo.inference.StopReason;
import io.dynamo.json.Json;
import io.dynamo.worker.engine.remote.Chunk;
import io.dynamo.worker.engine.remote.Pieces;
import io.dynamo.worker.engine.remote.Recording;
import io.dynamo.worker.engine.remote.Refusal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads answers of a live vLLM 0.32.0, byte for byte as they were recorded. */
class VllmReaderTest {
  private static final int END_OF_TURN = 4089;

  private static VllmReader reader() {
    return new VllmReader(new int[0], 20);
  }

  private static byte[] answer(String name) {
    return Recording.of("vllm-0.32.0/http/" + name + ".txt").answer();
  }

  private static List<Chunk> whole(String name) throws Exception {
    return Pieces.read(answer(name), 0, reader());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"07-chat-tool-stream", "11-inference-generate-stream", "30-completion-stream"})
  void aStreamCutAtAnyByteHasTheSameMessages(String name) throws Exception {
    var bytes = answer(name);
    var expected = Pieces.read(bytes, 0, reader());
    assertThat(expected.getLast()).isEqualTo(Chunk.END);
    var ends = expected.stream().map(Chunk::finish).filter(Objects::nonNull).toList();
    assertThat(ends).hasSize(1);
    var lines = Pieces.lines(bytes, 0); // the reader has no state: the same lines say the same
    for (int cut = 1; cut < bytes.length; cut++) {
      assertThat(Pieces.lines(bytes, cut)).as("cut at %d", cut).isEqualTo(lines);
    }
  }

  @Test
  void theTokensOfAStreamAreThoseThatTheServerSent() throws Exception {
    assertThat(Pieces.tokens(whole("11-inference-generate-stream")))
        .containsExactly(220, 220, 1, 220);
    var call = Pieces.tokens(whole("07-chat-tool-stream"));
    assertThat(call).hasSize(26).startsWith(4092, 198, 293, 350, 272).endsWith(4093, END_OF_TURN);
  }

  @ParameterizedTest
  @CsvSource({
    "01-completion-100-tokens, 40, 0",
    "02-same-prompt-again, 4, 96",
    "03-shared-prefix-64, 4, 64",
    "04-cache-salt, 4, 0",
    "10-inference-generate, 4, 32",
    "12-kv-transfer-params, 1, 32",
  })
  void aWholeAnswerHasItsTokensItsEndAndItsCachedTokens(String name, int tokens, int cached)
      throws Exception {
    var chunks = whole(name);
    assertThat(chunks).hasSize(1);
    assertThat(chunks.getFirst().tokens()).hasSize(tokens);
    assertThat(chunks.getFirst().finish()).isEqualTo(FinishReason.LENGTH);
    assertThat(chunks.getFirst().cached()).isEqualTo(cached);
  }

  @Test
  void cachedTokensOfAStreamComeInTheMessageWithoutAChoice() throws Exception {
    var chunks = whole("07-chat-tool-stream");
    assertThat(chunks.stream().map(Chunk::cached).filter(Objects::nonNull)).containsExactly(96);
    assertThat(chunks.get(chunks.size() - 2).tokens()).isEmpty();
  }

  @Test
  void logProbabilitiesComeWithTheirTokenIds() throws Exception {
    var chunk = Pieces.read(answer("09-logprobs"), 0, new VllmReader(new int[0], 2)).getFirst();
    assertThat(chunk.logprobs())
        .containsExactly(-0.3508153259754181, -3.5851497650146484, -3.58921480178833);
    assertThat(chunk.top())
        .first()
        .isEqualTo(
            List.of(
                new Top(1, 220, null, -0.3508153259754181, null),
                new Top(2, 13, null, -2.7363553047180176, null)));
    assertThat(chunk.top()).hasSize(3);
  }

  @Test
  void fewerAlternativesThanTheServerSentAreTheLikeliest() throws Exception {
    var chunk = Pieces.read(answer("09-logprobs"), 0, new VllmReader(new int[0], 1)).getFirst();
    assertThat(chunk.top()).allSatisfy(position -> assertThat(position).hasSize(1));
    assertThat(chunk.top().get(1).getFirst().tokenId()).isEqualTo(220);
  }

  private static Chunk read(String message) {
    return Objects.requireNonNull(
        new VllmReader(new int[] {7}, 0)
            .read(("data: " + message).getBytes(StandardCharsets.UTF_8)));
  }

  private static String ending(String reason, String stop) {
    return "{\"choices\":[{\"index\":0,\"finish_reason\":\"%s\",\"stop_reason\":%s,\"token_ids\":[7]}]}"
        .formatted(reason, stop);
  }

  @Test
  void aStopOfTheClientIsToldApartFromTheModelsOwnEnd() {
    assertThat(read(ending("stop", "null")).finish()).isEqualTo(FinishReason.EOS);
    assertThat(read(ending("stop", "8")).finish()).isEqualTo(FinishReason.EOS);
    assertThat(read(ending("stop", "7")).finish()).isEqualTo(FinishReason.STOP);
    assertThat(read(ending("stop", "7")).stop()).isEqualTo(new StopReason.Token(7));
    assertThat(read(ending("length", "null")).finish()).isEqualTo(FinishReason.LENGTH);
  }

  @ParameterizedTest
  @ValueSource(strings = {"abort", "error", "what is new"})
  void anEndThatIsTheServersFaultLetsTheTextGoOnElsewhere(String reason) {
    assertThatThrownBy(() -> read(ending(reason, "null"))).isInstanceOf(WorkerLostException.class);
  }

  @Test
  void textWithoutIdsIsNotTakenForAnAnswer() {
    assertThatThrownBy(() -> read("{\"choices\":[{\"index\":0,\"text\":\"some\"}]}"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("without token ids");
  }

  @Test
  void anErrorInAStreamIsTyped() {
    assertThatThrownBy(() -> read("{\"error\":{\"message\":\"engine is dead\",\"code\":500}}"))
        .isInstanceOf(WorkerLostException.class)
        .hasMessageContaining("engine is dead");
    assertThatThrownBy(() -> read("{\"error\":{\"message\":\"bad regex\",\"code\":400}}"))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("bad regex");
  }

  @Test
  void linesOfOtherProtocolsAreRefused() {
    for (var line : List.of("HTTP/1.1 200 OK", "<html>", "data: <html>", "data: {")) {
      assertThatThrownBy(() -> reader().read(line.getBytes(StandardCharsets.UTF_8)))
          .as(line)
          .isInstanceOf(IllegalArgumentException.class);
    }
    for (var line : List.of("", "\r", ": ping", "event: message", "id: 1")) {
      assertThat(reader().read(line.getBytes(StandardCharsets.UTF_8))).as(line).isNull();
    }
  }

  @Test
  void refusalsAreTheRequestersFaultOrABusyServerOrABrokenOne() {
    var wrong = Recording.of("vllm-0.32.0/http/14-wrong-model.txt");
    assertThat(wrong.status()).isEqualTo(404);
    assertThat(refusal(wrong.status(), wrong.answer()))
        .isInstanceOf(WorkerBusyException.class)
        .hasMessageContaining("The model `none` does not exist");
    assertThat(refusal(400, "{}".getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(InvalidRequestException.class);
    assertThat(refusal(429, new byte[0])).isInstanceOf(WorkerBusyException.class);
    assertThat(refusal(503, new byte[0])).isInstanceOf(WorkerBusyException.class);
    assertThat(refusal(500, "Internal Server Error".getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(WorkerLostException.class)
        .hasMessageContaining("Internal Server Error");
    assertThat(refusal(401, new byte[0])).hasMessageContaining("dynamo.worker.remote.key-file");
  }

  private static DynamoException refusal(int status, byte[] body) {
    return Refusal.of(VllmDialect.NAME, status, body);
  }

  @Test
  void theRecordedRequestsAreJson() { // otherwise the recordings were read at the wrong place
    assertThat(
            Json.readObject(Recording.of("vllm-0.32.0/http/09-logprobs.txt").request())
                .count("logprobs"))
        .isEqualTo(2);
  }
}
