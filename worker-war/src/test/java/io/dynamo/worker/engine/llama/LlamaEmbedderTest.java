package io.dynamo.worker.engine.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.Embedded;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.ManualPacer;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.llama.math.Kernel;
import io.dynamo.worker.engine.llama.math.Kernels;
import io.dynamo.worker.engine.llama.math.PlainKernel;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the embedder with manual time: every pass runs on the test's thread. */
class LlamaEmbedderTest {
  /** Single against double precision, relative to the length of a state. */
  private static final double TOLERANCE = 2e-4;

  private final ManualPacer time = new ManualPacer();
  private final HeapMemory memory = new HeapMemory();
  private final List<LlamaEmbedder> engines = new ArrayList<>();

  /** A prompt and its pooled states, as NumPy computes them in double precision. */
  private record Reference(String name, int[] prompt, float[] last, float[] mean) {}

  @AfterEach
  void close() {
    engines.forEach(LlamaEmbedder::close);
    assertThat(memory.regions()).isNotEmpty().allMatch(HeapMemory.HeapRegion::isClosed);
  }

  private LlamaEmbedder engine(
      Kernel kernel, int blocks, int passTokens, Pooling pooling, boolean unitLength) {
    var config = new LlamaEmbedderConfig(8, 16, blocks, passTokens, pooling, unitLength);
    var engine = new LlamaEmbedder(config, TinyModel.model(kernel), memory, time);
    engine.start();
    engines.add(engine);
    return engine;
  }

  private static List<Reference> references() throws IOException {
    try (var in =
        Objects.requireNonNull(LlamaEmbedderTest.class.getResourceAsStream("embeddings.json"))) {
      return Json.readObject(in.readAllBytes()).optionalObjects("cases").stream()
          .map(LlamaEmbedderTest::reference)
          .toList();
    }
  }

  private static Reference reference(JsonObject from) {
    return new Reference(
        from.text("name"),
        from.list("prompt_ids").stream().mapToInt(id -> ((Number) id).intValue()).toArray(),
        floats(from.list("last")),
        floats(from.list("mean")));
  }

  private static float[] floats(List<?> numbers) {
    var floats = new float[numbers.size()];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = ((Number) Objects.requireNonNull(numbers.get(i))).floatValue();
    }
    return floats;
  }

  private static double length(float[] vector) {
    double squares = 0;
    for (float number : vector) {
      squares += (double) number * number;
    }
    return Math.sqrt(squares);
  }

  @ParameterizedTest
  @CsvSource({"false,16,LAST", "true,16,LAST", "true,512,LAST", "false,512,MEAN", "true,7,MEAN"})
  void vectorsAreThoseOfTheReferenceHoweverPromptsAreCut(
      boolean vector, int passTokens, Pooling pooling) throws IOException {
    var kernel = vector ? Kernels.best() : new PlainKernel();
    var engine = engine(kernel, 64, passTokens, pooling, false);
    var cases = references();
    assertThat(cases).hasSize(4);
    var answer =
        Embedded.of(
            engine, Embedded.request(cases.stream().map(Reference::prompt).toArray(int[][]::new)));
    time.settle();
    for (int i = 0; i < cases.size(); i++) {
      var expected = pooling == Pooling.LAST ? cases.get(i).last() : cases.get(i).mean();
      assertThat(answer.vectors().get(i))
          .as(cases.get(i).name())
          .containsExactly(expected, within((float) (TOLERANCE * length(expected))));
    }
  }

  @Test
  void requestsTakeTurnsByThePrompt() {
    var engine = engine(Kernels.best(), 64, 32, Pooling.LAST, true);
    var prompts = new int[20][];
    Arrays.setAll(prompts, i -> Requests.prompt(1 + i, 32));
    var large = Embedded.of(engine, Embedded.request(prompts));
    var small = Embedded.of(engine, Embedded.request(Requests.prompt(1, 4)));
    time.advanceTicks(2); // a prompt of the large one, then the small one
    assertThat(small.isEnded()).isTrue();
    assertThat(large.isEnded()).isFalse();
    time.settle();
    assertThat(large.vectors()).hasSize(20);
  }

  @Test
  void cancelEndsARequestWithinALongPromptAndFreesItsBlocks() {
    var engine = engine(Kernels.best(), 32, 16, Pooling.MEAN, true);
    var context = Requests.context();
    var left = Embedded.of(engine, Embedded.request(Requests.prompt(1, 500)), context);
    time.advanceTicks(3);
    context.cancellation().stop();
    time.settle();
    assertThat(left.failure()).isInstanceOf(CancelledException.class);

    assertThat(engine.running()).isZero();

    var next = Embedded.of(engine, Embedded.request(Requests.prompt(1, 512))); // needs all blocks
    time.settle();
    assertThat(next.vectors()).hasSize(1);
  }

  @Test
  void deadlineThatPassesWhileARequestWaitsEndsIt() {
    var engine = engine(Kernels.best(), 32, 16, Pooling.LAST, true);
    time.advance(Duration.ofHours(1)); // ahead of the clock that deadlines are made from
    var late =
        Embedded.of(
            engine,
            Embedded.request(Requests.prompt(1, 500)),
            Requests.context(Duration.ofMinutes(1)));
    time.settle();
    assertThat(late.failure())
        .isInstanceOf(DeadlineExceededException.class)
        .hasMessageContaining("0 of 1");
  }

  @Test
  void lengthsAreThoseOfTheStatesUnlessTheyAreScaled() {
    var plain = engine(Kernels.best(), 32, 64, Pooling.LAST, false);
    var unit = engine(Kernels.best(), 32, 64, Pooling.LAST, true);
    var request = Embedded.request(Requests.prompt(1, 20));
    var long1 = Embedded.of(plain, request);
    var short1 = Embedded.of(unit, request);
    time.settle();
    double scale = length(long1.vectors().getFirst());
    assertThat(scale).isGreaterThan(2);
    assertThat(length(short1.vectors().getFirst())).isCloseTo(1, within(1e-6));
    assertThat((double) long1.vectors().getFirst()[3])
        .isCloseTo(short1.vectors().getFirst()[3] * scale, within(1e-4));
  }
}
