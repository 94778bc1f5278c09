package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.error.CancelledException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.NoWorkerException;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The API of embeddings, compared with the captures of Dynamo where we do as it does. */
class EmbeddingsTest {
  private final FrontendFixture frontend = new FrontendFixture();

  @BeforeEach
  void embeddings() {
    frontend.api = TextService.EMBEDDINGS;
    frontend.modelTypes = Set.of("Embedding");
    frontend.promptIds = new int[] {282, 80, 321};
    frontend.embeds =
        request -> {
          var vectors = new ArrayList<float[]>();
          for (var _ : request.prompts()) {
            vectors.add(new float[] {0.1f, 0.2f});
          }
          return new EmbeddingOutput(vectors, 0);
        };
  }

  @AfterEach
  void close() {
    assertThat(frontend.bodies.heldBytes()).isZero();
    frontend.closeIdle();
  }

  private static String ask(String input, String more) {
    return "{\"model\":\"script\",\"input\":%s%s}".formatted(input, more);
  }

  private EmbeddingRequest asked() {
    return Objects.requireNonNull(frontend.askedForEmbeddings);
  }

  @Test
  void aTextIsAnsweredWithItsVector() {
    assertThat(frontend.post(ask("\"hello\"", "")).text())
        .isEqualTo(
            "{\"object\":\"list\",\"model\":\"script\",\"data\":[{\"index\":0,"
                + "\"object\":\"embedding\",\"embedding\":[0.1,0.2]}],"
                + "\"usage\":{\"prompt_tokens\":3,\"total_tokens\":3}}");
    assertThat(frontend.encoded).isEqualTo("hello");
    assertThat(asked().prompts()).hasSize(1);
    assertThat(asked().prompts().getFirst()).containsExactly(282, 80, 321);
    assertThat(asked().base64()).isFalse();
  }

  @Test
  void textsAndTokensComeAloneAndInBatches() {
    assertThat(frontend.post(ask("[\"a\",\"b\"]", "")).text())
        .contains("{\"index\":1,")
        .contains("\"prompt_tokens\":6");
    frontend.post(ask("[1,2,3]", ""));
    assertThat(asked().prompts()).hasSize(1);
    assertThat(asked().prompts().getFirst()).containsExactly(1, 2, 3);
    frontend.post(ask("[[1,2],[3]]", ""));
    assertThat(asked().prompts()).hasSize(2);
    assertThat(asked().prompts().getLast()).containsExactly(3);
  }

  @Test
  void base64IsOfLittleEndianFloats() {
    assertThat(frontend.post(ask("\"a\"", ",\"encoding_format\":\"base64\"")).text())
        .contains("\"embedding\":\"zczMPc3MTD4=\"");
    assertThat(asked().base64()).isTrue();
  }

  @Test
  void optionsReachTheWorker() {
    frontend.post(ask("\"a\"", ",\"dimensions\":2,\"truncate_prompt_tokens\":2,\"user\":\"u\""));

    assertThat(asked().dimensions()).isEqualTo(2);
    assertThat(asked().truncatedTo()).isEqualTo(2);
    assertThat(asked().prompts().getFirst()).containsExactly(282, 80);
  }

  @Test
  void theWorkersCountOfTokensWins() {
    frontend.embeds = _ -> new EmbeddingOutput(List.of(new float[] {1}), 7);

    assertThat(frontend.post(ask("\"a\"", "")).text()).contains("\"total_tokens\":7");
  }

  @Test
  void inputsThatAreNoneAreRefused() {
    for (var input :
        List.of("[]", "\"\"", "[\"a\",\"\"]", "[[1],[]]", "null", "7", "{}", "[\"a\",[1]]")) {
      assertThat(frontend.post(ask(input, "")).status).as(input).isEqualTo(400);
    }
    assertThat(frontend.post("{\"model\":\"script\"}").text()).contains("missing field `input`");
    assertThat(frontend.askedForEmbeddings).isNull();
  }

  @Test
  void valuesOutOfBoundsAreRefused() {
    for (var more :
        List.of(
            ",\"dimensions\":0",
            ",\"dimensions\":65537",
            ",\"encoding_format\":\"zzz\"",
            ",\"truncate_prompt_tokens\":0",
            ",\"truncate_prompt_tokens\":-2")) {
      assertThat(frontend.post(ask("\"a\"", more)).status).as(more).isEqualTo(400);
    }
    assertThat(frontend.post(ask("[99999999]", "")).text()).contains("invalid_token_id");
    assertThat(frontend.post(ask("[" + "[1],".repeat(600) + "[1]]", "")).status).isEqualTo(200);
    assertThat(frontend.post(ask("[" + "1,".repeat(1100) + "1]", "")).text())
        .contains("maximum context length");
  }

  @Test
  void modelsThatDoNotEmbedAreNotAsked() {
    frontend.modelTypes = Set.of("Chat", "Completions");

    assertThat(frontend.post(ask("\"a\"", "")).status).isEqualTo(404);
    assertThat(frontend.post("{\"model\":\"nobody\",\"input\":\"a\"}").status).isEqualTo(404);
  }

  @Test
  void modelsThatOnlyEmbedDoNotChat() {
    frontend.api = TextService.CHAT;

    var answer =
        frontend.post(
            "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");

    assertThat(answer.status).isEqualTo(404);
  }

  @Test
  void aWorkersRefusalIsTheAnswer() {
    frontend.embeds =
        _ -> {
          throw new NoWorkerException("none is there");
        };

    assertThat(frontend.post(ask("\"a\"", "")).status).isEqualTo(503);
  }

  @Test
  void anAnswerThatFindsNoRoomIsRefused() {
    frontend.embeds = _ -> new EmbeddingOutput(List.of(new float[4 << 20]), 1);

    assertThat(frontend.post(ask("\"a\"", "")).status).isEqualTo(503);
  }

  @Test
  void abortAllEndsARequestThatWaitsForItsWorker() {
    frontend.embeds =
        _ -> {
          frontend.completions.abortAll(
              new EngineFailedException(
                  ErrorCode.BACKEND_ENGINE_SHUTDOWN, "the server is stopping", null));
          assertThat(Objects.requireNonNull(frontend.context).cancellation().isCancelled())
              .isTrue();
          throw new CancelledException("the worker was told to stop");
        };

    assertThat(frontend.post(ask("\"a\"", "")).status).isEqualTo(503);
  }
}
