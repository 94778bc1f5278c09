package io.dynamo.natives;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the JNI layer over the core: Java's own arrays and buffers. The core has tests in C++. */
class NativeTransferTest {
  private static final int SIZE = 3 << 20; // more than one piece of an array

  private long region;

  @BeforeEach
  void allocate() {
    region = NativeTransfer.allocate(SIZE);
    assertThat(region).isPositive();
  }

  @AfterEach
  void release() {
    NativeTransfer.release(region);
    assertThat(NativeTransfer.heldBytes()).isZero();
  }

  @Test
  void arraysAndDirectBuffersCarryTheSameBytes() {
    var bytes = new byte[SIZE];
    new Random(3).nextBytes(bytes);
    assertThat(NativeTransfer.writeArray(region, 5, bytes, 0, SIZE - 5)).isZero();
    var direct = ByteBuffer.allocateDirect(SIZE);
    assertThat(NativeTransfer.read(region, 5, direct, 5, SIZE - 5)).isZero();
    assertThat(direct.slice(5, SIZE - 5)).isEqualTo(ByteBuffer.wrap(bytes, 0, SIZE - 5));

    direct.put(0, bytes);
    assertThat(NativeTransfer.write(region, 0, direct, 0, SIZE)).isZero();
    var back = new byte[SIZE];
    assertThat(NativeTransfer.readArray(region, 0, back, 0, SIZE)).isZero();
    assertThat(back).isEqualTo(bytes);
  }

  @Test
  void aRangeThatLeavesTheJavaObjectIsInvalid() {
    var array = new byte[16];
    var direct = ByteBuffer.allocateDirect(16);
    var bad = new int[][] {{-1, 4}, {4, -1}, {1, 16}, {17, 0}, {Integer.MAX_VALUE, 2}};
    for (var range : bad) {
      assertThat(status(NativeTransfer.writeArray(region, 0, array, range[0], range[1])))
          .isEqualTo(NativeStatus.INVALID);
      assertThat(status(NativeTransfer.readArray(region, 0, array, range[0], range[1])))
          .isEqualTo(NativeStatus.INVALID);
      assertThat(status(NativeTransfer.write(region, 0, direct, range[0], range[1])))
          .isEqualTo(NativeStatus.INVALID);
      assertThat(status(NativeTransfer.read(region, 0, direct, range[0], range[1])))
          .isEqualTo(NativeStatus.INVALID);
    }
  }

  @Test
  void aHeapBufferIsNotTakenForADirectOne() {
    assertThat(status(NativeTransfer.write(region, 0, ByteBuffer.allocate(4), 0, 4)))
        .isEqualTo(NativeStatus.INVALID);
  }

  @Test
  void aRangeThatLeavesTheRegionIsRefused() {
    var array = new byte[16];
    for (var offset : new long[] {-1, SIZE - 15, Long.MIN_VALUE, Long.MAX_VALUE}) {
      assertThat(status(NativeTransfer.writeArray(region, offset, array, 0, 16)))
          .isEqualTo(NativeStatus.RANGE);
      assertThat(status(NativeTransfer.crc32c(region, offset, 16))).isEqualTo(NativeStatus.RANGE);
      assertThat(status(NativeTransfer.copy(region, region, new long[] {0, offset, 16})))
          .isEqualTo(NativeStatus.RANGE);
    }
    assertThat(status(NativeTransfer.crc32c(region, 0, -1))).isEqualTo(NativeStatus.RANGE);
  }

  @Test
  void aBatchThatIsNoTriplesIsInvalid() {
    assertThat(status(NativeTransfer.copy(region, region, new long[] {0, 1})))
        .isEqualTo(NativeStatus.INVALID);
  }

  @Test
  void releasedOrMadeUpHandlesAreStale() {
    NativeTransfer.release(region);
    for (var handle : new long[] {region, 0, -1, 1, Long.MAX_VALUE}) {
      assertThat(status(NativeTransfer.release(handle))).isEqualTo(NativeStatus.STALE);
      assertThat(status(NativeTransfer.crc32c(handle, 0, 1))).isEqualTo(NativeStatus.STALE);
      assertThat(status(NativeTransfer.readArray(handle, 0, new byte[1], 0, 1)))
          .isEqualTo(NativeStatus.STALE);
      assertThat(status(NativeTransfer.copy(handle, handle, new long[] {0, 8, 1})))
          .isEqualTo(NativeStatus.STALE);
    }
  }

  @Test
  void sizesThatCannotBeAreRefused() {
    assertThat(status(NativeTransfer.allocate(0))).isEqualTo(NativeStatus.INVALID);
    assertThat(status(NativeTransfer.allocate(-1))).isEqualTo(NativeStatus.INVALID);
    assertThat(status(NativeTransfer.allocate(Long.MAX_VALUE))).isEqualTo(NativeStatus.NO_MEMORY);
    assertThat(status(NativeTransfer.allocate(1L << 50))).isEqualTo(NativeStatus.NO_MEMORY);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8, 9, 255, 6143, 6144, 6145, 100_000, SIZE - 3})
  void checksumsAreThoseOfTheJdk(int length) {
    var bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    NativeTransfer.writeArray(region, 3, bytes, 0, length);
    var expected = new CRC32C();
    expected.update(bytes);
    assertThat(NativeTransfer.crc32c(region, 3, length)).isEqualTo(expected.getValue());
  }

  private static NativeStatus status(long result) {
    return NativeStatus.of(result);
  }
}
