package io.dynamo.wire.generate;

import io.dynamo.inference.EngineOutput;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.ItemDecoder;
import io.dynamo.wire.ItemEncoder;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Items of a generation to bytes and back, one after another as in an answer. */
@NullUnmarked // JMH fills the fields before it measures
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ItemCodecBenchmark {
  @Param({"1", "16"})
  int tokens;

  @Param({"MSGPACK", "JSON"})
  PayloadFormat format;

  private ItemEncoder<EngineOutput> encoder;
  private ItemDecoder<EngineOutput> decoder;
  private EngineOutput item;
  private ByteBuffer bytes;

  @Setup
  public void make() {
    var codec = new GenerateCodec();
    encoder = codec.encoder(format);
    decoder = codec.decoder(format);
    item = EngineOutput.ofTokens(IntStream.range(1000, 1000 + tokens).toArray());
    bytes = ByteBuffer.wrap(codec.encodeItem(item, format));
  }

  @Benchmark
  public ByteBuffer encode() {
    return encoder.encode(item);
  }

  @Benchmark
  public EngineOutput decode() {
    return decoder.decode(bytes);
  }
}
