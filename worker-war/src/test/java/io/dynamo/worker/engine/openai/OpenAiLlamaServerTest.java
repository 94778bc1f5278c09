package io.dynamo.worker.engine.openai;

import static io.dynamo.worker.engine.openai.OpenAiEngineContractTest.VOCABULARY;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.inference.FinishReason;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.llama.TinyModel;
import io.dynamo.worker.engine.llamacpp.ServerProcess;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Asks llama.cpp's server by text, with the model that ships with the project. */
class OpenAiLlamaServerTest {
  private static final int FIRST_SPECIAL = 4088;
  private static final SamplingOptions GREEDY =
      new SamplingOptions(null, 0f, null, null, null, null, null, null, null);

  @TempDir private Path folder;

  /** Returns the text of {@code tokens}; null where a special token is within. */
  private static @Nullable String plain(int[] tokens) {
    int end = tokens.length;
    if (end > 0 && tokens[end - 1] == TinyModel.EOS) {
      end--;
    }
    var text = Arrays.copyOf(tokens, end);
    return Arrays.stream(text).anyMatch(id -> id >= FIRST_SPECIAL) ? null : VOCABULARY.text(text);
  }

  @Test
  void goldenPromptsGiveThePyTorchTextsAlsoWhenTheyGoOnElsewhere() throws Exception {
    try (var server = ServerProcess.start(folder, 2);
        var engine = OpenAiEngineContractTest.engine(server.address(), null)) {
      engine.start(EngineContract.DEAF);
      int compared = 0;
      for (var golden : TinyModel.golden()) {
        var expected = plain(golden.output());
        if (expected == null || expected.isEmpty()) {
          continue;
        }
        var stop = new StopConditions(golden.output().length, List.of(), List.of(), null, false);
        var request = Requests.of(golden.prompt(), stop, GREEDY, OutputOptions.DEFAULTS);
        var whole = Collected.all(engine.generate(request, Requests.context())).ended();
        assertThat(whole.failure()).as(golden.name()).isNull();
        assertThat(VOCABULARY.text(whole.tokens())).as(golden.name()).isEqualTo(expected);
        assertThat(whole.last().finishReason())
            .as(golden.name())
            .isIn(FinishReason.EOS, FinishReason.LENGTH);
        var half = Arrays.copyOf(golden.output(), golden.output().length / 2);
        var rest =
            Collected.all(engine.generate(request.continuedBy(half), Requests.context())).ended();
        assertThat(VOCABULARY.text(half) + VOCABULARY.text(rest.tokens()))
            .as("%s, continued", golden.name())
            .isEqualTo(expected);
        compared++;
      }
      assertThat(compared).isGreaterThan(5);
    }
  }
}
