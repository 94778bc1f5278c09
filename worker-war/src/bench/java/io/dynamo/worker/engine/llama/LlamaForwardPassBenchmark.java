package io.dynamo.worker.engine.llama;

import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.worker.engine.llama.LlamaForwardPass.Segment;
import io.dynamo.worker.engine.llama.math.Kernels;
import io.dynamo.worker.engine.llama.math.PlainKernel;
import io.dynamo.worker.engine.llama.weights.LlamaWeights;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One pass of the model that ships with the server, on one thread. Run {@code mvn verify -Pbench
 * -pl worker-war -am -Dbench=LlamaForwardPassBenchmark}; start JMH in the folder {@code
 * worker-war}.
 */
@NullUnmarked // JMH fills the fields before it measures
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(value = 1, jvmArgsAppend = "--add-modules=jdk.incubator.vector")
public class LlamaForwardPassBenchmark {
  private static final int BLOCK_TOKENS = 16;
  private static final int BLOCKS_EACH = 40;
  private static final LlamaForwardPass.Sink DEAF =
      new LlamaForwardPass.Sink() {
        @Override
        public void logits(int segment, float[] logits, int at) {}

        @Override
        public void poisoned(int segment) {
          throw new IllegalStateException("not finite");
        }
      };

  @Param({"vector", "plain"})
  String kernel;

  private final JavaHostMemory memory = new JavaHostMemory();
  private KvStore store;
  private LlamaForwardPass pass;

  /** Sequences that have so many tokens, each to get one more. */
  @State(Scope.Benchmark)
  public static class Decoding {
    @Param({"1", "8", "32"})
    int batch;

    @Param({"64", "512"})
    int contextTokens;

    private List<Segment> segments;

    @Setup
    public void fill(LlamaForwardPassBenchmark bench) {
      var whole = new ArrayList<Segment>();
      segments = new ArrayList<>();
      for (int i = 0; i < batch; i++) {
        var tokens = tokens(contextTokens + 1, i);
        whole.add(new Segment(blocks(i), tokens, 0, contextTokens, false));
        segments.add(new Segment(blocks(i), tokens, contextTokens, 1, true));
      }
      for (var one : whole) {
        bench.pass.run(List.of(one), DEAF);
      }
    }
  }

  /** A prompt, nothing of it cached. */
  @State(Scope.Benchmark)
  public static class Prefilling {
    @Param({"32", "256", "512"})
    int promptTokens;

    private List<Segment> segments;

    @Setup
    public void fill() {
      segments = List.of(new Segment(blocks(0), tokens(promptTokens, 0), 0, promptTokens, true));
    }
  }

  private static int[] tokens(int count, int from) {
    return IntStream.range(0, count).map(i -> 200 + (i * 7 + from) % 3000).toArray();
  }

  private static int[] blocks(int sequence) {
    return IntStream.range(sequence * BLOCKS_EACH, (sequence + 1) * BLOCKS_EACH).toArray();
  }

  @Setup
  public void load() {
    var chosen = kernel.equals("plain") ? new PlainKernel() : Kernels.best();
    if (!chosen.name().equals(kernel)) {
      throw new IllegalStateException("this JVM has no " + kernel);
    }
    var model = Path.of("../server-config/src/main/liberty/config/models/tiny");
    var weights = LlamaWeights.load(model, chosen);
    var shape = weights.shape();
    var region = memory.allocate(32 * BLOCKS_EACH * KvStore.blockBytes(shape, BLOCK_TOKENS));
    store = new KvStore(region, shape, BLOCK_TOKENS);
    pass = new LlamaForwardPass(weights, new Rotation(shape), store, BLOCK_TOKENS, 512);
  }

  @TearDown
  public void close() {
    store.close();
    memory.close();
  }

  @Benchmark
  public void decode(Decoding decoding) {
    pass.run(decoding.segments, DEAF);
  }

  @Benchmark
  public void prefill(Prefilling prefilling) {
    pass.run(prefilling.segments, DEAF);
  }
}
