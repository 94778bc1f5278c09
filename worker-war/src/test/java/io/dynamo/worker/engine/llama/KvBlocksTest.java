package io.dynamo.worker.engine.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.Migratable;
import io.dynamo.inference.Usage;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.HeardEvents;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.ThreadPacer;
import io.dynamo.worker.engine.llama.math.Kernels;
import io.dynamo.worker.engine.llama.math.PlainKernel;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

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
    var blocks = a.export(0, sofar, soon());
    int full = (sofar.length - 1) / 16; // the last token's keys and values are not computed
    assertThat(blocks.blocks()).hasSize(full);
    assertThat(b.load(0, blocks, soon())).isEqualTo(full);
    assertThat(heardB.present()).isEqualTo(heardA.present());
    var rest = run(b, sofar, 25);
    assertThat(join(half, rest.tokens())).isEqualTo(whole);
    assertThat(rest.last().usage()).isEqualTo(new Usage(sofar.length, 25, full * 16));
    assertThat(b.load(0, blocks, soon())).as("known already").isZero();
  }

  @Test
  void exportEndsAtTheFirstBlockThatIsNotThere() throws Exception {
    var prompt = Requests.prompt(1, 40);
    run(a, prompt, 1);
    var other = Requests.prompt(1, 60);
    assertThat(a.export(0, other, soon()).blocks()).hasSize(2);
    assertThat(a.export(0, Requests.prompt(9, 40), soon()).blocks()).isEmpty();
  }

  @Test
  void fullerPoolTakesWhatItHasRoomFor() throws Exception {
    var small = engine(3, TinyModel.model(Kernels.best()), new HeardEvents());
    run(a, Requests.prompt(1, 90), 1);
    var blocks = a.export(0, Requests.prompt(1, 90), soon());
    assertThat(blocks.blocks()).hasSize(5);
    assertThat(small.load(0, blocks, soon())).isEqualTo(3);
    assertThat(run(small, Requests.prompt(1, 33), 1).last().usage())
        .isEqualTo(new Usage(33, 1, 32));
    small.close();
  }

  @Test
  void foreignAndDamagedBlocksAreRefused() throws Exception {
    run(a, Requests.prompt(1, 20), 1);
    var blocks = a.export(0, Requests.prompt(1, 20), soon());
    var sound = blocks.blocks().getFirst();
    var bytes = sound.bytes().clone();
    bytes[99] ^= 1;
    refused(with(blocks, List.of(new KvBlocks.Block(bytes, sound.crc32c()))), "damaged");
    refused(with(blocks, List.of(new KvBlocks.Block(new byte[3], 0))), "damaged");
    refused(with(blocks, List.of(sound, sound)), "20 tokens");
    refused(new KvBlocks(blocks.shape(), 8, blocks.tokens(), blocks.blocks()), "block size");
    assertThat(heardB.log()).isEmpty();
  }

  private static KvBlocks with(KvBlocks all, List<KvBlocks.Block> blocks) {
    return new KvBlocks(all.shape(), all.blockTokens(), all.tokens(), blocks);
  }

  private void refused(KvBlocks blocks, String why) {
    assertThatThrownBy(() -> b.load(0, blocks, soon()))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining(why);
  }

  @Test
  void closedEngineSaysSo() {
    a.close();
    assertThatThrownBy(() -> a.export(0, new int[] {1}, soon())).isInstanceOf(Migratable.class);
  }
}
