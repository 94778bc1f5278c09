package io.dynamo.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.ErrorCode;
import io.dynamo.transfer.HostMemory.Residency;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.zip.CRC32C;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of every {@link HostMemory}. */
public abstract class HostMemoryContract {
  private static final int SIZE = 4096;

  private HostMemory memory;

  protected abstract HostMemory newMemory();

  @BeforeEach
  void open() {
    memory = newMemory();
  }

  @AfterEach
  void close() {
    memory.close();
  }

  @Test
  void aRegionStartsZeroedAlsoWhereAnotherLivedBefore() {
    for (var round = 0; round < 3; round++) {
      try (var region = memory.allocate(SIZE)) {
        assertThat(region.byteSize()).isEqualTo(SIZE);
        assertThat(bytes(region)).containsOnly(0);
        region.write(0, ByteBuffer.wrap(random(SIZE)));
      }
    }
  }

  @Test
  void aRegionToShareIsLikeAnyOther() {
    isLikeAnyOther(memory::allocateShared);
  }

  @Test
  void aPinnedRegionIsLikeAnyOther() {
    isLikeAnyOther(memory::allocatePinned);
    try (var plain = memory.allocate(SIZE)) {
      assertThat(plain.residency()).isEqualTo(Residency.PAGEABLE);
    }
  }

  private void isLikeAnyOther(LongFunction<HostMemory.Region> allocate) {
    var data = random(SIZE);
    var shared = allocate.apply(SIZE);
    try (var other = memory.allocate(SIZE);
        var arena = Arena.ofConfined()) {
      assertThat(bytes(shared)).containsOnly(0);
      shared.write(0, ByteBuffer.wrap(data));
      memory.copy(shared, other, new CopyBatch().add(0, 0, SIZE));
      assertThat(bytes(other)).isEqualTo(data);
      assertThat(shared.crc32c(0, SIZE)).isEqualTo(other.crc32c(0, SIZE));
      assertThat(shared.view(arena).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(data);
      shared.close();
      shared.close();
      assertThatIllegalStateException().isThrownBy(() -> bytes(shared));
    }
    assertThatIllegalArgumentException().isThrownBy(() -> allocate.apply(0));
    assertThatThrownBy(() -> allocate.apply(Long.MAX_VALUE))
        .isInstanceOf(HostMemoryExhaustedException.class);
  }

  @Test
  void sizesThatCannotBeAreRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> memory.allocate(0));
    assertThatIllegalArgumentException().isThrownBy(() -> memory.allocate(-1));
    for (var size : new long[] {1L << 50, Long.MAX_VALUE}) {
      assertThatThrownBy(() -> memory.allocate(size))
          .isInstanceOfSatisfying(
              HostMemoryExhaustedException.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.RESOURCE_EXHAUSTED));
    }
    memory.allocate(1).close();
  }

  @Test
  void aViewShowsTheBytesInPlace() {
    var data = random(SIZE);
    try (var arena = Arena.ofShared();
        var region = memory.allocate(SIZE)) {
      var view = region.view(arena);
      assertThat(view.byteSize()).isEqualTo(SIZE);
      region.write(0, ByteBuffer.wrap(data));
      assertThat(view.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(data);
      view.set(ValueLayout.JAVA_BYTE, 7, (byte) (data[7] + 1));
      assertThat(bytes(region)[7]).isEqualTo((byte) (data[7] + 1));
      assertThatThrownBy(() -> view.get(ValueLayout.JAVA_BYTE, SIZE))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void aViewOutlivesItsRegionAndNotItsArena() {
    var arena = Arena.ofShared();
    var region = memory.allocate(SIZE);
    region.write(0, ByteBuffer.wrap(new byte[] {5}));
    var view = region.view(arena);
    region.close();
    assertThat(view.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 5);
    assertThatIllegalStateException().isThrownBy(() -> region.view(arena));
    arena.close();
    assertThatIllegalStateException().isThrownBy(() -> view.get(ValueLayout.JAVA_BYTE, 0));
    try (var other = memory.allocate(SIZE)) {
      assertThatIllegalStateException().isThrownBy(() -> other.view(arena));
      other.write(0, ByteBuffer.wrap(new byte[] {6}));
    }
  }

  @Test
  void everyKindOfBufferCarriesTheSameBytes() {
    var data = random(1000);
    var direct = ByteBuffer.allocateDirect(1010).position(7);
    direct.put(7, data).limit(1007);
    var slice = ByteBuffer.allocate(1010).position(3).slice();
    slice.put(0, data).limit(1000);
    for (var from : List.of(direct, slice, slice.asReadOnlyBuffer(), direct.asReadOnlyBuffer())) {
      try (var region = memory.allocate(SIZE)) {
        var source = from.duplicate();
        region.write(50, source);
        assertThat(source.hasRemaining()).isFalse();
        assertThat(Arrays.copyOfRange(bytes(region), 50, 1050)).isEqualTo(data);
        assertThat(Arrays.copyOfRange(bytes(region), 0, 50)).containsOnly(0);
        assertThat(Arrays.copyOfRange(bytes(region), 1050, SIZE)).containsOnly(0);
        var into = ByteBuffer.allocateDirect(1005).position(5);
        region.read(50, into);
        assertThat(into.hasRemaining()).isFalse();
        assertThat(into.flip().position(5)).isEqualTo(ByteBuffer.wrap(data));
      }
    }
  }

  @Test
  void aRangeThatLeavesTheRegionMovesNothing() {
    var region = memory.allocate(SIZE);
    for (var offset : new long[] {-1, SIZE - 15, SIZE + 1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      for (var buffer :
          List.of(ByteBuffer.wrap(random(16)), ByteBuffer.allocateDirect(16).put(0, random(16)))) {
        var before = copyOf(buffer);
        outOfBounds(() -> region.write(offset, buffer));
        outOfBounds(() -> region.read(offset, buffer));
        outOfBounds(() -> region.write(offset, buffer.asReadOnlyBuffer()));
        assertThat(buffer.position()).isZero();
        assertThat(copyOf(buffer)).isEqualTo(before);
      }
      outOfBounds(() -> region.crc32c(offset, 16));
    }
    outOfBounds(() -> region.crc32c(0, -1));
    outOfBounds(() -> region.crc32c(1, Long.MAX_VALUE));
    assertThat(bytes(region)).containsOnly(0);
    region.write(SIZE, ByteBuffer.allocate(0));
  }

  @Test
  void aReadOnlyBufferIsNotFilled() {
    var region = memory.allocate(SIZE);
    assertThatThrownBy(() -> region.read(0, ByteBuffer.allocate(4).asReadOnlyBuffer()))
        .isInstanceOf(ReadOnlyBufferException.class);
    assertThatThrownBy(() -> region.read(0, ByteBuffer.allocateDirect(4).asReadOnlyBuffer()))
        .isInstanceOf(ReadOnlyBufferException.class);
  }

  @Test
  void aBufferOfAFreedArenaIsRefused() {
    var region = memory.allocate(SIZE);
    var arena = Arena.ofShared();
    var buffer = arena.allocate(64).asByteBuffer();
    arena.close();
    assertThatIllegalStateException().isThrownBy(() -> region.write(0, buffer));
    assertThatIllegalStateException().isThrownBy(() -> region.read(0, buffer));
  }

  @Test
  void aClosedRegionIsNeverTouched() {
    var region = memory.allocate(SIZE);
    var other = memory.allocate(SIZE);
    region.close();
    region.close();
    var next = memory.allocate(SIZE);
    assertThatIllegalStateException().isThrownBy(() -> region.write(0, ByteBuffer.allocate(1)));
    assertThatIllegalStateException().isThrownBy(() -> region.read(0, ByteBuffer.allocate(1)));
    assertThatIllegalStateException().isThrownBy(() -> region.crc32c(0, 1));
    var batch = new CopyBatch().add(0, 0, 1);
    assertThatIllegalStateException().isThrownBy(() -> memory.copy(region, other, batch));
    assertThatIllegalStateException().isThrownBy(() -> memory.copy(other, region, batch));
    region.close();
    next.write(0, ByteBuffer.wrap(random(16)));
  }

  @Test
  void closingTheMemoryClosesItsRegions() {
    var region = memory.allocate(SIZE);
    memory.close();
    memory.close();
    assertThatIllegalStateException().isThrownBy(() -> region.crc32c(0, 1));
    assertThatIllegalStateException().isThrownBy(() -> memory.allocate(1));
    region.close();
  }

  @Test
  void aRegionOfAnotherMemoryIsRefused() {
    try (var stranger = newMemory()) {
      var mine = memory.allocate(SIZE);
      var foreign = stranger.allocate(SIZE);
      var batch = new CopyBatch().add(0, 0, 1);
      assertThatIllegalArgumentException().isThrownBy(() -> memory.copy(mine, foreign, batch));
      assertThatIllegalArgumentException().isThrownBy(() -> memory.copy(foreign, mine, batch));
    }
  }

  @Test
  void oneBadRangeLetsNothingOfABatchBeCopied() {
    var source = filled();
    var target = memory.allocate(SIZE);
    for (var bad :
        new long[][] {
          {SIZE, 0, 1},
          {0, SIZE - 1, 2},
          {-1, 0, 1},
          {0, -1, 1},
          {0, 0, -1},
          {1, 0, SIZE},
          {Long.MAX_VALUE, 0, Long.MAX_VALUE},
          {0, Long.MAX_VALUE, 1},
          {0, SIZE + 1, 0}
        }) {
      var batch = new CopyBatch().add(0, 100, 10).add(bad[0], bad[1], bad[2]);
      assertThatThrownBy(() -> memory.copy(source, target, batch))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessageContaining("range 1");
      assertThat(bytes(target)).containsOnly(0);
    }
  }

  @Test
  void aBatchWhoseOutcomeDependsOnItsOrderIsRefused() {
    var region = filled();
    var target = memory.allocate(SIZE);
    var before = bytes(region);
    refused(region, target, new CopyBatch().add(0, 0, 10).add(100, 9, 10));
    refused(region, region, new CopyBatch().add(0, 5, 10));
    refused(region, region, new CopyBatch().add(0, 0, 10));
    refused(region, region, new CopyBatch().add(0, 100, 10).add(105, 200, 10));
    assertThat(bytes(target)).containsOnly(0);
    assertThat(bytes(region)).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8, 13, 21, 34}) // the seed names the failing run
  void agreesWithTheNaiveCopy(long seed) {
    var random = new Random(seed);
    int copied = 0;
    int refused = 0;
    for (var round = 0; round < 100; round++) {
      var source = filled();
      var oneRegion = random.nextBoolean();
      var target = oneRegion ? source : memory.allocate(SIZE);
      var batch = new CopyBatch();
      for (var range = random.nextInt(6); range >= 0; range--) {
        batch.add(random.nextInt(SIZE - 200), random.nextInt(SIZE - 200), random.nextInt(200));
      }
      var expected = naive(bytes(source), bytes(target), batch, oneRegion);
      if (expected == null) {
        refused(source, target, batch);
        refused++;
      } else {
        memory.copy(source, target, batch);
        assertThat(bytes(target)).isEqualTo(expected);
        copied++;
      }
      source.close();
      target.close();
    }
    assertThat(copied).isPositive();
    assertThat(refused).isPositive();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8, 63, 4093, 100_000})
  void checksumsAreThoseOfTheJdk(int length) {
    var data = random(length);
    var region = memory.allocate(length + 5);
    region.write(3, ByteBuffer.wrap(data));
    var expected = new CRC32C();
    expected.update(data);
    assertThat(region.crc32c(3, length)).isEqualTo((int) expected.getValue());
  }

  /** Readers see the right bytes until the region is closed, and the right exception afterwards. */
  @Test
  void aRegionMayBeClosedWhileOthersReadIt() throws Exception {
    var data = random(64 << 10);
    var crc = new CRC32C();
    crc.update(data);
    try (var threads = Executors.newFixedThreadPool(3)) {
      for (var round = 0; round < 20; round++) {
        var region = memory.allocate(data.length);
        region.write(0, ByteBuffer.wrap(data));
        var reading = new CountDownLatch(3);
        var readers = new ArrayList<Future<Integer>>();
        for (var reader = 0; reader < 3; reader++) {
          readers.add(
              threads.submit(() -> readUntilClosed(region, data, (int) crc.getValue(), reading)));
        }
        assertThat(reading.await(60, TimeUnit.SECONDS)).isTrue();
        region.close();
        for (var reader : readers) {
          assertThat(reader.get(60, TimeUnit.SECONDS)).isPositive();
        }
      }
    }
  }

  private static int readUntilClosed(
      HostMemory.Region region, byte[] data, int crc, CountDownLatch reading) {
    var into = ByteBuffer.allocateDirect(data.length);
    for (var reads = 0; ; reads++) {
      try {
        region.read(0, into.clear());
        assertThat(region.crc32c(0, data.length)).isEqualTo(crc);
      } catch (IllegalStateException closed) {
        return reads;
      }
      assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(data));
      if (reads == 0) {
        reading.countDown();
      }
    }
  }

  /**
   * Returns the target's content afterwards, or null when a byte is written twice, or written and
   * read.
   */
  private static byte @Nullable [] naive(
      byte[] from, byte[] into, CopyBatch batch, boolean oneRegion) {
    var result = into.clone();
    var written = new int[SIZE];
    var read = new int[SIZE];
    for (var i = 0; i < batch.count(); i++) {
      for (var at = 0; at < batch.length(i); at++) {
        int target = (int) batch.targetOffset(i) + at;
        int source = (int) batch.sourceOffset(i) + at;
        written[target]++;
        read[source]++;
        result[target] = from[source];
      }
    }
    for (var at = 0; at < SIZE; at++) {
      if (written[at] > 1 || (oneRegion && written[at] > 0 && read[at] > 0)) {
        return null;
      }
    }
    return result;
  }

  private void refused(HostMemory.Region source, HostMemory.Region target, CopyBatch batch) {
    var before = bytes(target);
    assertThatIllegalArgumentException().isThrownBy(() -> memory.copy(source, target, batch));
    assertThat(bytes(target)).isEqualTo(before);
  }

  private static void outOfBounds(ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(IndexOutOfBoundsException.class);
  }

  private HostMemory.Region filled() {
    var region = memory.allocate(SIZE);
    region.write(0, ByteBuffer.wrap(random(SIZE)));
    return region;
  }

  private static byte[] bytes(HostMemory.Region region) {
    var bytes = new byte[(int) region.byteSize()];
    region.read(0, ByteBuffer.wrap(bytes));
    return bytes;
  }

  private static byte[] copyOf(ByteBuffer buffer) {
    var bytes = new byte[buffer.remaining()];
    buffer.get(buffer.position(), bytes);
    return bytes;
  }

  private static byte[] random(int length) {
    var bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }
}
