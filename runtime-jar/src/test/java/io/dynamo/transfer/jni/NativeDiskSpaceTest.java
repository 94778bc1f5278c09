package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.transfer.DiskFailedException;
import io.dynamo.transfer.DiskFailedException.Problem;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.Transfer;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests disk space through JNI, in each of its ways. The core has tests in C++. */
class NativeDiskSpaceTest {
  private static final int SIZE = 4 << 20; // aligned to huge pages, hence for any disk

  @TempDir private Path folder;
  private final NativeHostMemory memory = new NativeHostMemory();
  private final Region source = memory.allocate(SIZE);
  private final Region target = memory.allocate(SIZE);
  private final byte[] data = new byte[SIZE];

  NativeDiskSpaceTest() {
    new Random(4).nextBytes(data);
    source.write(0, ByteBuffer.wrap(data));
  }

  @AfterEach
  void close() {
    memory.close();
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(20));
  }

  private NativeDiskSpace space(boolean cached, boolean threads) {
    return new NativeDiskSpace(memory, folder, SIZE, new NativeDiskSpace.Options(cached, threads));
  }

  private static byte[] bytes(Region region) {
    var all = ByteBuffer.allocate(SIZE);
    region.read(0, all);
    return all.array();
  }

  @ParameterizedTest
  @CsvSource({"false,false", "false,true", "true,false", "true,true"})
  void writtenBytesAreReadBack(boolean cached, boolean threads) throws Exception {
    try (var space = space(cached, threads)) {
      assertThat(space.byteSize()).isEqualTo(SIZE);
      assertThat(space.way()).contains(threads ? "threads" : "", cached ? "by the page" : "page");
      assertThat(SIZE % space.alignment()).isZero();
      assertThat(space.write(source, 0, 0, SIZE, soon()).await(soon())).isEqualTo(SIZE);
      var reads = new ArrayList<Transfer>();
      int piece = 64 << 10;
      for (int at = 0; at < SIZE; at += piece) { // in the reverse order
        reads.add(space.read(target, SIZE - piece - at, at, piece, soon()));
      }
      for (var one : reads) {
        assertThat(one.await(soon())).isEqualTo(piece);
      }
      var expected = new byte[SIZE];
      for (int at = 0; at < SIZE; at += piece) {
        System.arraycopy(data, at, expected, SIZE - piece - at, piece);
      }
      assertThat(bytes(target)).isEqualTo(expected);
    }
    try (var files = Files.list(folder)) {
      assertThat(files).isEmpty();
    }
  }

  @Test
  void invalidTransfersAreRefused() throws Exception {
    try (var space = space(false, false);
        var java = new JavaHostMemory()) {
      for (long[] range :
          new long[][] {{0, SIZE, 4096}, {SIZE, 0, 4096}, {-4096, 0, 4096}, {0, -4096, 4096}}) {
        assertThatThrownBy(() -> space.read(target, range[0], range[1], range[2], soon()))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
      assertThatThrownBy(() -> space.read(target, 0, 0, -4096, soon()))
          .isInstanceOf(IndexOutOfBoundsException.class);
      if (space.alignment() > 1) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> space.read(target, 0, 1, space.alignment(), soon()))
            .withMessageContaining(String.valueOf(space.alignment()));
      }
      var foreign = java.allocate(SIZE);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> space.read(foreign, 0, 0, 4096, soon()));
      target.close();
      assertThatIllegalStateException().isThrownBy(() -> space.read(target, 0, 0, 4096, soon()));
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new NativeDiskSpace(memory, folder, 0, NativeDiskSpace.Options.BEST));
    cannotBeMade(folder, 1L << 60, Problem.FULL);
    cannotBeMade(folder.resolve("none"), 4096, Problem.ABSENT);
    cannotBeMade(Files.createFile(folder.resolve("file")), 4096, Problem.ABSENT);
  }

  private void cannotBeMade(Path where, long byteSize, Problem problem) {
    assertThatExceptionOfType(DiskFailedException.class)
        .isThrownBy(
            () -> new NativeDiskSpace(memory, where, byteSize, NativeDiskSpace.Options.BEST))
        .withMessageContaining(where.toString())
        .satisfies(failure -> assertThat(failure.problem()).isEqualTo(problem));
  }

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void everyRequestEndsHoweverItIsGivenUp(boolean threads) throws Exception {
    var space = space(false, threads);
    var late = space.read(target, 0, 0, SIZE, Deadline.after(Duration.ofNanos(1)));
    assertThatExceptionOfType(DeadlineExceededException.class).isThrownBy(() -> late.await(soon()));
    var requests = new ArrayList<Transfer>();
    for (int i = 0; i < 100; i++) {
      requests.add(space.write(source, 0, 0, SIZE, soon()));
    }
    for (int i = 0; i < 50; i++) {
      requests.get(i).cancel();
    }
    source.close(); // its bytes stay until the last request has ended
    space.close();
    space.close();
    for (var one : requests) {
      assertThat(one.outcome().toCompletableFuture()).isDone();
      try {
        assertThat(one.await(soon())).isEqualTo(SIZE);
      } catch (CancelledException expected) {
        assertThat(expected).hasMessageContaining("cancelled");
      }
    }
    assertThatIllegalStateException().isThrownBy(() -> space.read(target, 0, 0, 4096, soon()));
  }
}
