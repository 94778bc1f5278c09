package io.dynamo.cli;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.DiskFailedException;
import io.dynamo.transfer.DiskSpace;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.jni.NativeDiskSpace;
import io.dynamo.transfer.jni.NativeHostMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Measures disk space for blocks beside plain reads and writes of one piece after the other, as
 * {@code dd} makes them, in the same folder. For one thread.
 */
final class DiskBench {
  private static final Duration LONGEST = Duration.ofMinutes(5); // for one round
  private static final int PIECE_BYTES = 1 << 20;
  private static final int ALIGNMENT = 4096;

  /**
   * The rates of one folder, in gigabytes per second.
   *
   * @param way how the bytes got to the disk
   */
  record Rates(String way, double write, double read, double plainWrite, double plainRead) {}

  private final NativeHostMemory memory;
  private final Path folder;
  private final int rounds;

  private DiskBench(NativeHostMemory memory, Path folder, int rounds) {
    this.memory = memory;
    this.folder = folder;
    this.rounds = rounds;
  }

  /**
   * Measures a folder. Returns null without native memory.
   *
   * @throws RefusedException when the folder cannot be used
   */
  static @Nullable Rates measure(HostMemory memory, Path folder, long byteSize, int rounds)
      throws InterruptedException {
    return memory instanceof NativeHostMemory nativeMemory
        ? new DiskBench(nativeMemory, folder, rounds).measure(byteSize)
        : null;
  }

  private Rates measure(long byteSize) throws InterruptedException {
    double[] write = new double[rounds];
    double[] read = new double[rounds];
    double[] plainWrite = new double[rounds];
    double[] plainRead = new double[rounds];
    var options = NativeDiskSpace.Options.BEST;
    try (var space = new NativeDiskSpace(memory, folder, byteSize, options);
        var region = memory.allocate(byteSize);
        var plain = plain(space.alignment() > 1)) {
      var piece = ByteBuffer.allocateDirect(PIECE_BYTES + ALIGNMENT).alignedSlice(ALIGNMENT);
      for (int round = -1; round < rounds; round++) { // the first one warms up
        int at = Math.max(round, 0);
        write[at] = move(space, region, true);
        plainWrite[at] = move(plain, piece, byteSize, true);
        read[at] = move(space, region, false);
        plainRead[at] = move(plain, piece, byteSize, false);
      }
      return new Rates(
          space.way(),
          byteSize / CopyBench.median(write),
          byteSize / CopyBench.median(read),
          byteSize / CopyBench.median(plainWrite),
          byteSize / CopyBench.median(plainRead));
    } catch (IOException | DiskFailedException | IllegalStateException e) {
      throw new RefusedException(
          "%s; choose another folder with --disk, or less with --bytes".formatted(e.getMessage()));
    }
  }

  /** Opens a file that is gone with its channel. */
  private FileChannel plain(boolean direct) throws IOException {
    var file = Files.createTempFile(folder, "dynamo-bench", null);
    try {
      Set<OpenOption> options =
          new HashSet<>(Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
      if (direct) {
        options.add(directOption());
      }
      return FileChannel.open(file, options);
    } finally {
      Files.delete(file);
    }
  }

  /** Returns an option that the JDK keeps outside of its public packages. */
  private static OpenOption directOption() throws IOException {
    try {
      var options = Class.forName("com.sun.nio.file.ExtendedOpenOption");
      return (OpenOption) options.getField("DIRECT").get(null);
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new IOException("this JDK has no direct I/O", e);
    }
  }

  /** Moves all of a region, in pieces that are on their way at once. */
  private static long move(DiskSpace space, Region region, boolean write)
      throws InterruptedException {
    var deadline = Deadline.after(LONGEST);
    long begin = System.nanoTime();
    var running = new ArrayList<Transfer>();
    for (long at = 0; at < space.byteSize(); at += PIECE_BYTES) {
      running.add(
          write
              ? space.write(region, at, at, PIECE_BYTES, deadline)
              : space.read(region, at, at, PIECE_BYTES, deadline));
    }
    for (var one : running) {
      one.await(deadline);
    }
    return System.nanoTime() - begin;
  }

  /** Moves as many bytes, one piece after the other. */
  private static long move(FileChannel file, ByteBuffer piece, long byteSize, boolean write)
      throws IOException {
    long begin = System.nanoTime();
    for (long at = 0; at < byteSize; at += PIECE_BYTES) {
      piece.position(0).limit(PIECE_BYTES);
      int moved = write ? file.write(piece, at) : file.read(piece, at);
      if (moved != PIECE_BYTES) {
        throw new IOException("a file moved %d of %d bytes".formatted(moved, PIECE_BYTES));
      }
    }
    return System.nanoTime() - begin;
  }
}
