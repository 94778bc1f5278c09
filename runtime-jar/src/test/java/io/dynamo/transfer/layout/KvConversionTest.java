package io.dynamo.transfer.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.natives.NativeLibrary;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.jni.NativeHostMemory;
import io.dynamo.transfer.layout.KvLayout.Arrangement;
import io.dynamo.transfer.layout.KvLayout.Order;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Holds layouts and their conversions against loops over every element. */
class KvConversionTest {
  private static final int ROUNDS = 40;

  private record Cell(int block, int layer, int outer, int head, int token) {}

  /** The offset of a cell, by the formulas of the published layouts. */
  private static long naiveOffset(KvLayout layout, long alignment, Cell at) {
    var g = layout.geometry();
    long run = (long) g.headSize() * g.elementBytes();
    long chunk = (long) g.tokens() * g.heads() * run;
    long within =
        layout.order() == Order.NHD
            ? ((long) at.token * g.heads() + at.head) * run
            : ((long) at.head * g.tokens() + at.token) * run;
    long block = (long) g.layers() * g.outer() * chunk;
    long stride = (block + alignment - 1) / alignment * alignment;
    return switch (layout.arrangement()) {
      case CONTIGUOUS ->
          layout.order() == Order.UNIVERSAL
              ? at.block * stride
                  + ((((long) at.head * g.layers() + at.layer) * g.outer() + at.outer) * g.tokens()
                          + at.token)
                      * run
              : at.block * stride + (at.layer * g.outer() + at.outer) * chunk + within;
      case LAYERS_BLOCKS_FIRST -> ((long) at.block * g.outer() + at.outer) * chunk + within;
      case LAYERS_OUTER_FIRST -> ((long) at.outer * g.blocks() + at.block) * chunk + within;
    };
  }

  private static List<Cell> cells(KvGeometry g, int block) {
    var all = new ArrayList<Cell>();
    for (int layer = 0; layer < g.layers(); layer++) {
      for (int outer = 0; outer < g.outer(); outer++) {
        for (int head = 0; head < g.heads(); head++) {
          for (int token = 0; token < g.tokens(); token++) {
            all.add(new Cell(block, layer, outer, head, token));
          }
        }
      }
    }
    return all;
  }

  private record Drawn(KvLayout layout, long alignment) {}

  private static Drawn layout(Random random, KvGeometry geometry) {
    var order = List.of(Order.values()).get(random.nextInt(3));
    var arrangement =
        order == Order.UNIVERSAL
            ? Arrangement.CONTIGUOUS
            : List.of(Arrangement.values()).get(random.nextInt(3));
    long alignment = arrangement == Arrangement.CONTIGUOUS ? 1L << random.nextInt(13) : 1;
    return new Drawn(new KvLayout(geometry, order, arrangement, alignment), alignment);
  }

  private static List<Region> regions(HostMemory memory, KvLayout layout) {
    var all = new ArrayList<Region>();
    for (int i = 0; i < layout.regions(); i++) {
      all.add(memory.allocate(layout.regionBytes()));
    }
    return all;
  }

  private static byte[] bytes(Region region) {
    var all = ByteBuffer.allocate((int) region.byteSize());
    region.read(0, all);
    return all.array();
  }

  @ParameterizedTest
  @ValueSource(strings = {"java", "native"})
  void conversionsAgreeWithLoopsOverEveryHeadOfEveryToken(String kind) {
    assumeTrue(kind.equals("java") || NativeLibrary.isAvailable(), "no native library");
    try (var memory = kind.equals("java") ? new JavaHostMemory() : new NativeHostMemory()) {
      var random = new Random(kind.hashCode());
      for (int round = 0; round < ROUNDS; round++) {
        convert(memory, random);
      }
    }
  }

  private static void convert(HostMemory memory, Random random) {
    int blocks = 1 + random.nextInt(6);
    int layers = 1 + random.nextInt(4);
    int outer = 1 + random.nextInt(2);
    int tokens = 1 << random.nextInt(5);
    int heads = 1 + random.nextInt(5);
    int headSize = 1 + random.nextInt(20);
    int elementBytes = 1 << random.nextInt(4);
    var geometry = new KvGeometry(blocks, layers, outer, tokens, heads, headSize, elementBytes);
    var more =
        new KvGeometry(
            blocks + random.nextInt(3), layers, outer, tokens, heads, headSize, elementBytes);
    var from = layout(random, geometry);
    var to = layout(random, more);
    var sources = regions(memory, from.layout);
    var targets = regions(memory, to.layout);
    for (var region : sources) {
      var data = new byte[(int) region.byteSize()];
      random.nextBytes(data);
      region.write(0, ByteBuffer.wrap(data));
    }
    int count = random.nextInt(blocks + 1);
    int[] read = new int[count];
    int[] written = new int[count];
    for (int i = 0; i < count; i++) {
      read[i] = random.nextInt(blocks);
      written[i] = (i + 1) % more.blocks();
    }
    int first = random.nextInt(layers);
    int end = first + random.nextInt(layers - first + 1);

    var expected = new ArrayList<byte[]>();
    targets.forEach(region -> expected.add(new byte[(int) region.byteSize()]));
    var originals = sources.stream().map(KvConversionTest::bytes).toList();
    for (int i = 0; i < count; i++) {
      for (var cell : cells(geometry, read[i])) {
        if (cell.layer < first || cell.layer >= end) {
          continue;
        }
        var there = new Cell(written[i], cell.layer, cell.outer, cell.head, cell.token);
        System.arraycopy(
            originals.get(from.layout.region(cell.layer)),
            (int) naiveOffset(from.layout, from.alignment, cell),
            expected.get(to.layout.region(cell.layer)),
            (int) naiveOffset(to.layout, to.alignment, there),
            headSize * elementBytes);
      }
    }

    var steps = new KvConversion(from.layout, to.layout).plan(read, written, first, end);
    for (var step : steps) {
      memory.permute(sources.get(step.source()), targets.get(step.target()), step.permutation());
    }

    for (int i = 0; i < targets.size(); i++) {
      assertThat(bytes(targets.get(i)))
          .as("%s %s to %s %s", from.layout.order(), geometry, to.layout.order(), more)
          .isEqualTo(expected.get(i));
    }
    sources.forEach(Region::close);
    targets.forEach(Region::close);
  }

  @Test
  void offsetsFollowTheFormulas() {
    var random = new Random(9);
    for (int round = 0; round < ROUNDS; round++) {
      var geometry =
          new KvGeometry(
              1 + random.nextInt(9),
              1 + random.nextInt(5),
              1 + random.nextInt(2),
              1 + random.nextInt(9),
              1 + random.nextInt(5),
              1 + random.nextInt(9),
              2);
      var drawn = layout(random, geometry);
      long last = 0;
      for (int block = 0; block < geometry.blocks(); block++) {
        for (var cell : cells(geometry, block)) {
          long offset =
              drawn.layout.offset(cell.block, cell.layer, cell.outer, cell.head, cell.token);
          assertThat(offset).isEqualTo(naiveOffset(drawn.layout, drawn.alignment, cell));
          last = Math.max(last, offset + geometry.headBytes());
        }
      }
      assertThat(drawn.layout.regionBytes()).isEqualTo(last);
    }
  }

  @Test
  void runsAreAsLongAsBothLayoutsAllow() {
    var geometry = new KvGeometry(4, 3, 2, 16, 8, 128, 2);
    var nhd = new KvLayout(geometry, Order.NHD, Arrangement.CONTIGUOUS, 1);
    var hnd = new KvLayout(geometry, Order.HND, Arrangement.CONTIGUOUS, 4096);
    var universal = new KvLayout(geometry, Order.UNIVERSAL, Arrangement.CONTIGUOUS, 1);
    var layers = new KvLayout(geometry, Order.NHD, Arrangement.LAYERS_BLOCKS_FIRST, 1);
    var apart = new KvLayout(geometry, Order.NHD, Arrangement.LAYERS_OUTER_FIRST, 1);
    assertThat(runBytes(nhd, nhd)).containsExactly(geometry.blockBytes());
    assertThat(runBytes(nhd, hnd)).containsExactly(geometry.headBytes());
    assertThat(runBytes(hnd, universal)).containsExactly(16 * geometry.headBytes());
    assertThat(runBytes(nhd, layers))
        .containsExactly(
            2 * geometry.chunkBytes(), 2 * geometry.chunkBytes(), 2 * geometry.chunkBytes());
    assertThat(runBytes(nhd, apart)).hasSize(3).containsOnly(geometry.chunkBytes());
  }

  private static List<Long> runBytes(KvLayout from, KvLayout to) {
    return new KvConversion(from, to)
        .plan(new int[] {0, 1}, new int[] {1, 2}).stream()
            .map(step -> step.permutation().shape()[0])
            .toList();
  }

  @Test
  void sizesOfKnownModels() {
    var llama8 = new KvGeometry(4, 32, 2, 16, 8, 128, 2);
    assertThat(llama8.blockBytes()).isEqualTo(2 << 20);
    var llama70 = new KvGeometry(4, 80, 2, 16, 8, 128, 2);
    assertThat(llama70.blockBytes()).isEqualTo(16 * 327_680);
    var layout = new KvLayout(llama70, Order.NHD, Arrangement.CONTIGUOUS, 4096);
    assertThat(layout.regionBytes()).isEqualTo(4L * 16 * 327_680);
  }

  @Test
  void impossibleLayoutsAreRefused() {
    var geometry = new KvGeometry(4, 2, 2, 16, 8, 128, 2);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new KvGeometry(4, 0, 2, 16, 8, 128, 2))
        .withMessageContaining("0 layers");
    assertThatIllegalArgumentException().isThrownBy(() -> new KvGeometry(4, 2, 3, 16, 8, 128, 2));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new KvGeometry(4, 2, 2, 2048, 8, 128, 2))
        .withMessageContaining("2048 tokens of a block are not from 1 to 1024");
    assertThatIllegalArgumentException().isThrownBy(() -> new KvGeometry(4, 2, 2, 16, 8, 128, 3));
    int most = Integer.MAX_VALUE;
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new KvGeometry(most, most, 2, 16, most, 128, 2))
        .withMessageContaining("2^63");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new KvLayout(
                    new KvGeometry(most, 1, 1, 1, 1, 1, 1),
                    Order.NHD,
                    Arrangement.CONTIGUOUS,
                    1L << 40));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new KvLayout(geometry, Order.NHD, Arrangement.CONTIGUOUS, 48));
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> new KvLayout(geometry, Order.UNIVERSAL, Arrangement.LAYERS_BLOCKS_FIRST, 1));
    var layout = new KvLayout(geometry, Order.NHD, Arrangement.CONTIGUOUS, 1);
    var other =
        new KvLayout(new KvGeometry(4, 2, 2, 16, 4, 128, 2), Order.HND, Arrangement.CONTIGUOUS, 1);
    assertThatIllegalArgumentException().isThrownBy(() -> new KvConversion(layout, other));
    var conversion = new KvConversion(layout, layout);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> conversion.plan(new int[] {0, 1}, new int[] {2, 2}))
        .withMessageContaining("block 2");
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> conversion.plan(new int[] {4}, new int[] {0}));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> conversion.plan(new int[] {0}, new int[] {0}, 1, 3));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> layout.offset(0, 0, 0, 8, 0));
  }
}
