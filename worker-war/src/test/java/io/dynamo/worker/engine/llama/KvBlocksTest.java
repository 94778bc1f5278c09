package io.dynamo.worker.engine.llama;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.Migratable;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.Usage;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.HeardEvents;
import io.dynamo.worker.engine.KvBlocks;
import io.dynamo.worker.engine.KvLayout;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.ThreadPacer;
import io.dynamo.worker.engine.llama.math.Kernels;
import io.dynamo.worker.engine.llama.math.PlainKernel;
import io.dynamo.worker.engine.llama.weights.LlamaWeights;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the transfer of a sequence's blocks from one engine to another. */
class KvBlocksTest {
  private final JavaHostMemory memory = new JavaHostMemory();
  private final HeardEvents heardA = new HeardEvents();
  private final HeardEvents heardB = new HeardEvents();
  private final LlamaEngine a = engine(64, TinyModel.model(Kernels.best()), heardA);
  private final LlamaEngine b = engine(64, TinyModel.model(new PlainKernel()), heardB);

  private LlamaEngine engine(int blocks, LlamaModel model, HeardEvents heard) {
    var config = new LlamaEngineConfig(1, 4, 4, 16, blocks, 64, 64);
    var engine = new LlamaEngine(config, model, memory, new ThreadPacer(), () -> 42);
    engine.start(heard);
    return engine;
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    memory.close();
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(10));
  }

  private static Collected run(LlamaEngine engine, int[] prompt, int budget) throws Exception {
    var request = Requests.endless(prompt, budget);
    return Collected.all(engine.generate(request, Requests.context())).ended();
  }

  private static int[] join(int[] one, int[] two) {
    return IntStream.concat(Arrays.stream(one), Arrays.stream(two)).toArray();
  }

  @Test
  void anotherEngineGoesOnFromTheBlocksAsIfUnbroken() throws Exception {
    var prompt = TinyModel.golden().getFirst().prompt();
    var whole = run(a, prompt, 50).tokens();
    a.clearCache();
    var half = run(a, prompt, 25).tokens();
    assertThat(half).isEqualTo(Arrays.copyOf(whole, 25));
    var sofar = join(prompt, half);
    int full = (sofar.length - 1) / 16; // the last token's keys and values are not computed
    try (var blocks = exported(a, sofar)) {
      assertThat(blocks.count()).isEqualTo(full);
      assertThat(b.importBlocks(blocks, soon())).isEqualTo(full);
      assertThat(heardB.present()).isEqualTo(heardA.present());
      var rest = run(b, sofar, 25);
      assertThat(join(half, rest.tokens())).isEqualTo(whole);
      assertThat(rest.last().usage()).isEqualTo(new Usage(sofar.length, 25, full * 16));
      assertThat(b.importBlocks(blocks, soon())).as("known already").isZero();
    }
    for (var engine : List.of(a, b)) {
      assertThat(engine.ranks().getFirst().heldBlocks()).as("held for copies").isZero();
    }
  }

  private static KvBlocks exported(LlamaEngine from, int[] tokens) throws Exception {
    return requireNonNull(from.export(0, tokens, soon()));
  }

  @Test
  void exportEndsAtTheFirstBlockThatIsNotThere() throws Exception {
    var prompt = Requests.prompt(1, 40);
    run(a, prompt, 1);
    var other = Requests.prompt(1, 60);
    try (var blocks = exported(a, other)) {
      assertThat(blocks.count()).isEqualTo(2);
    }
    assertThat(a.export(0, Requests.prompt(9, 40), soon())).isNull();
  }

  @Test
  void blocksOfARunningGenerationAreCopiedWhileItGoesOn() throws Exception {
    var prompt = TinyModel.golden().getFirst().prompt();
    var whole = run(b, prompt, 200).tokens();
    b.clearCache();
    var context = Requests.context();
    var answer = Collected.from(a.generate(Requests.endless(prompt, 200), context), 1);
    KvBlocks blocks = null; // it stops when its buffer is full, after several blocks
    for (var until = soon(); blocks == null && !until.isExpired(); ) {
      blocks = a.exportBlocks(context, soon());
    }
    try (var found = requireNonNull(blocks)) {
      assertThat(found.count()).isPositive();
      assertThat(Arrays.copyOf(join(prompt, whole), found.tokens().length))
          .isEqualTo(found.tokens());
      assertThat(b.importBlocks(found, soon())).isEqualTo(found.count());
    }
    answer.request(Long.MAX_VALUE);
    assertThat(answer.ended().tokens()).isEqualTo(whole);
    assertThat(run(b, prompt, 200).tokens()).isEqualTo(whole);
    assertThat(a.exportBlocks(context, soon())).as("it has ended").isNull();
  }

  @Test
  void blocksNamedInAnotherScopeStayWhereTheyAre() throws Exception {
    var hints = new RoutingHints(0, PassedOn.of(Map.of("cache_salt", "tenant-7")));
    var salted = Requests.endless(Requests.prompt(1, 40), 400).routedTo(hints);
    var context = Requests.context();
    var answer = Collected.from(a.generate(salted, context), 1).begun();
    assertThat(a.exportBlocks(context, soon())).isNull();
    assertThat(answer.isEnded()).isFalse();
    answer.cancel();
  }

  @Test
  void fullerPoolTakesWhatItHasRoomFor() throws Exception {
    var small = engine(3, TinyModel.model(Kernels.best()), new HeardEvents());
    run(a, Requests.prompt(1, 90), 1);
    try (var blocks = exported(a, Requests.prompt(1, 90))) {
      assertThat(blocks.count()).isEqualTo(5);
      assertThat(small.importBlocks(blocks, soon())).isEqualTo(3);
    }
    assertThat(run(small, Requests.prompt(1, 33), 1).last().usage())
        .isEqualTo(new Usage(33, 1, 32));
    small.close();
  }

  @Test
  void foreignAndDamagedBlocksAreRefused() throws Exception {
    run(a, Requests.prompt(1, 20), 1);
    try (var blocks = exported(a, Requests.prompt(1, 20))) {
      var layout = blocks.layout();
      int one = blocks.checksums()[0];
      refused(with(blocks, layout, one, one), "20 tokens");
      refused(with(blocks, layout, one ^ 1), "damaged");
      var other = new KvLayout(layout.name(), layout.weights(), 8, layout.blockBytes());
      refused(with(blocks, other, one), "block size");
      var tuned = new KvLayout(layout.name(), "sha256:0", 16, layout.blockBytes());
      refused(with(blocks, tuned, one), "other weights");
      blocks.bytes().write(99, ByteBuffer.wrap(new byte[] {1, 2, 3, 4}));
      refused(blocks, "damaged");
    }
    assertThat(heardB.log()).isEmpty();
  }

  @Test
  void oneNumberOfTheWeightsMakesAnotherModel(@TempDir Path directory) throws Exception {
    Files.copy(TinyModel.DIRECTORY.resolve("config.json"), directory.resolve("config.json"));
    var file = directory.resolve("model.safetensors");
    var bytes = Files.readAllBytes(TinyModel.DIRECTORY.resolve("model.safetensors"));
    Files.write(file, bytes);
    assertThat(LlamaWeights.load(directory, Kernels.best()).digest())
        .isEqualTo(a.layout().weights())
        .isEqualTo(b.layout().weights());
    bytes[bytes.length - 1] ^= 1;
    Files.write(file, bytes);
    assertThat(LlamaWeights.load(directory, Kernels.best()).digest())
        .isNotEqualTo(a.layout().weights());
  }

  private static KvBlocks with(KvBlocks all, KvLayout layout, int... checksums) {
    return new KvBlocks(layout, all.tokens(), checksums, all.bytes());
  }

  private void refused(KvBlocks blocks, String why) {
    assertThatThrownBy(() -> b.importBlocks(blocks, soon()))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining(why);
  }

  @Test
  void closedEngineSaysSo() {
    a.close();
    assertThatThrownBy(() -> a.export(0, new int[] {1}, soon())).isInstanceOf(Migratable.class);
  }
}
