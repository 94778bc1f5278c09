package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.natives.CudaDevices;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RandomBatch;
import io.dynamo.transfer.Transfer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;

/**
 * Two places of {@link #SIZE} bytes, and the code that moves ranges from one to the other. Used by
 * one test, which closes it.
 */
abstract class TransferPath implements AutoCloseable {
  static final int SIZE = 2 << 20; // aligned to huge pages, hence for any disk

  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /** Adds something that is closed with this path, before what was added earlier. */
  final <T extends AutoCloseable> T closing(T one) {
    open.push(one);
    return one;
  }

  /** Returns the host memory that the path works with. */
  abstract HostMemory memory();

  /** Writes all bytes of the source; called once at most. */
  abstract void fillSource(byte[] data) throws InterruptedException;

  /** Writes all bytes of the target; called once at most. */
  abstract void fillTarget(byte[] data) throws InterruptedException;

  /** Returns the bytes of the target. */
  abstract byte[] target() throws InterruptedException;

  /** Starts to move ranges, as the implementation does; refuses them by any of its ways. */
  abstract Transfer start(CopyBatch ranges, Deadline deadline);

  /** Ends the use of the source, so that nothing is read from it any more. */
  abstract void closeSource();

  /** Ends the use of the target, so that nothing is written to it any more. */
  abstract void closeTarget();

  /** Draws ranges of the form that one transfer of this path takes. */
  abstract RandomBatch draw(Random random, byte[] source, byte[] target);

  /** Returns ranges of that form which leave one of the sides. */
  abstract long[][] rangesOutside();

  /** Returns the bytes of both sides' memory that the native library has not freed. */
  static long heldBytes() {
    return NativeTransfer.heldBytes() + CudaDevices.heldBytes();
  }

  /** Counts sockets, shared memory, nameless files, and descriptors of the kernel's queues. */
  static long descriptors() {
    try (var all = Files.list(Path.of("/proc/self/fd"))) {
      return all.filter(TransferPath::isOurs).count();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static boolean isOurs(Path descriptor) {
    try {
      var name = Files.readSymbolicLink(descriptor).toString();
      return name.startsWith("socket:")
          || name.startsWith("anon_inode:")
          || name.endsWith("(deleted)");
    } catch (IOException gone) {
      return false;
    }
  }

  static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(60));
  }

  static byte[] bytes(Region region) {
    var all = ByteBuffer.allocate((int) region.byteSize());
    region.read(0, all);
    return all.array();
  }

  @Override
  public void close() throws IOException {
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (IOException | RuntimeException failure) {
        throw failure;
      } catch (Exception failure) {
        throw new IOException(failure);
      }
    }
  }
}
