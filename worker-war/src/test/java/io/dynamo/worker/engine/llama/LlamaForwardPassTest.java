package io.dynamo.worker.engine.llama;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.worker.engine.llama.LlamaForwardPass.Segment;
import io.dynamo.worker.engine.llama.TinyModel.Golden;
import io.dynamo.worker.engine.llama.math.Kernel;
import io.dynamo.worker.engine.llama.math.Kernels;
import io.dynamo.worker.engine.llama.math.PlainKernel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the numbers of a pass, without an engine around it. */
class LlamaForwardPassTest {
  private static final int BLOCK_TOKENS = 16;
  private static final int BLOCKS_EACH = 20;
  private final JavaHostMemory memory = new JavaHostMemory();
  private final List<KvStore> stores = new ArrayList<>();

  @AfterEach
  void close() {
    stores.forEach(KvStore::close);
    memory.close();
  }

  static Stream<Kernel> kernels() {
    return Kernels.hasVectors()
        ? Stream.of(new PlainKernel(), Kernels.best())
        : Stream.of(new PlainKernel());
  }

  static Stream<Arguments> goldenByKernel() {
    return kernels().flatMap(k -> TinyModel.golden().stream().map(g -> Arguments.of(k, g)));
  }

  /** A sequence with blocks of its own. */
  private static final class Sequence {
    final int[] blocks;
    final int[] tokens = new int[1000];
    int length;
    int computed;

    Sequence(int index, int... prompt) {
      blocks = IntStream.range(index * BLOCKS_EACH, (index + 1) * BLOCKS_EACH).toArray();
      System.arraycopy(prompt, 0, tokens, 0, prompt.length);
      length = prompt.length;
    }

    Segment next(int count) {
      var segment = new Segment(blocks, tokens, computed, count, computed + count == length);
      computed += count;
      return segment;
    }
  }

  private LlamaForwardPass pass(Kernel kernel) {
    return pass(kernel, 4);
  }

  private LlamaForwardPass pass(Kernel kernel, int sequences) {
    var weights = TinyModel.weights(kernel);
    var shape = weights.shape();
    var region = memory.allocate(KvStore.blockBytes(shape, BLOCK_TOKENS) * sequences * BLOCKS_EACH);
    var store = new KvStore(region, shape, BLOCK_TOKENS);
    stores.add(store);
    return new LlamaForwardPass(weights, new Rotation(shape), store, BLOCK_TOKENS, 1024);
  }

  /** Returns the logits of each segment that requests them. */
  private static List<float[]> run(LlamaForwardPass pass, List<Segment> segments) {
    var all = new ArrayList<float[]>();
    pass.run(
        segments,
        new LlamaForwardPass.Sink() {
          @Override
          public void logits(int segment, float[] logits, int at) {
            all.add(Arrays.copyOfRange(logits, at, at + 4096));
          }

          @Override
          public void poisoned(int segment) {
            throw new AssertionError("segment " + segment + " is not finite");
          }
        });
    return all;
  }

  private static int best(float[] logits) {
    int best = 0;
    for (int i = 1; i < logits.length; i++) {
      if (logits[i] > logits[best]) {
        best = i;
      }
    }
    return best;
  }

  @ParameterizedTest
  @MethodSource("goldenByKernel")
  void greedyTokensAreThoseOfPyTorch(Kernel kernel, Golden golden) {
    var pass = pass(kernel);
    var sequence = new Sequence(0, golden.prompt());
    for (int expected : golden.output()) {
      var logits = run(pass, List.of(sequence.next(sequence.length - sequence.computed)));
      int token = best(logits.getFirst());
      assertThat(token).isEqualTo(expected);
      sequence.tokens[sequence.length++] = token;
    }
  }

  @ParameterizedTest
  @MethodSource("kernels")
  void prefillChunksAndSingleTokensGiveTheSameBits(Kernel kernel) {
    var prompt = TinyModel.golden().getFirst().prompt();
    var whole = run(pass(kernel), List.of(new Sequence(0, prompt).next(prompt.length))).getFirst();
    for (int chunk : new int[] {1, 3, 16, 17, 50}) {
      var pass = pass(kernel);
      var sequence = new Sequence(3, prompt);
      List<float[]> last = List.of();
      while (sequence.computed < prompt.length) {
        int count = Math.min(chunk, prompt.length - sequence.computed);
        last = run(pass, List.of(sequence.next(count)));
      }
      assertThat(last.getFirst()).as("chunks of %d", chunk).isEqualTo(whole);
    }
  }

  @ParameterizedTest
  @MethodSource("kernels")
  void batchDoesNotChangeARow(Kernel kernel) {
    var cases = TinyModel.golden();
    var pass = pass(kernel, cases.size());
    var alone = new ArrayList<float[]>();
    for (var golden : cases) {
      alone.addAll(
          run(pass, List.of(new Sequence(0, golden.prompt()).next(golden.prompt().length))));
    }
    var sequences = new ArrayList<Sequence>();
    for (var golden : cases) {
      sequences.add(new Sequence(sequences.size(), golden.prompt()));
    }
    var segments = new ArrayList<Segment>(); // all but the last token; those then together
    sequences.forEach(sequence -> segments.add(sequence.next(sequence.length - 1)));
    run(pass, segments);
    segments.clear();
    sequences.forEach(sequence -> segments.add(sequence.next(1)));
    assertThat(run(pass, segments)).usingElementComparator(Arrays::compare).isEqualTo(alone);
  }

  @ParameterizedTest
  @MethodSource("kernels")
  void everyKernelGivesTheBitsOfThePlainLoops(Kernel kernel) {
    var differing = new TreeSet<String>();
    for (var golden : TinyModel.golden()) {
      var segment = new Sequence(0, golden.prompt()).next(golden.prompt().length);
      var plain = run(pass(new PlainKernel()), List.of(segment)).getFirst();
      if (!Arrays.equals(plain, run(pass(kernel), List.of(segment)).getFirst())) {
        differing.add(golden.name());
      }
    }
    assertThat(differing).isEqualTo(Set.of());
  }
}
