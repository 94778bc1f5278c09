package io.dynamo.transfer.jni;

import io.dynamo.natives.NativeLibrary;
import io.dynamo.transfer.HostMemory.Region;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The process without privileges of {@link LockedMemoryTest}: allocates pinned regions of the sizes
 * that its arguments after the first give, and prints what became of each.
 */
final class LockedMemoryPeer {
  /** Begins each answer; the JVM may print lines of its own. */
  static final String ANSWER = "answer ";

  private LockedMemoryPeer() {}

  public static void main(String... arguments) throws Exception {
    NativeLibrary.extractInto(List.of(Path.of(arguments[0])));
    try (var memory = new NativeHostMemory()) {
      for (var size : Stream.of(arguments).skip(1).map(Integer::valueOf).toList()) {
        try (var region = memory.allocatePinned(size)) {
          System.out.println(
              ANSWER + region.residency() + " " + holdsBytes(region) + " " + lockedKilobytes());
          System.out.println(ANSWER + NativeLibrary.probe());
        }
      }
      System.out.println(ANSWER + lockedKilobytes());
    }
  }

  private static boolean holdsBytes(Region region) {
    var bytes = new byte[(int) region.byteSize()];
    Arrays.fill(bytes, (byte) 9);
    region.write(0, ByteBuffer.wrap(bytes));
    return Arrays.equals(TransferPath.bytes(region), bytes);
  }

  /** Returns what the kernel says that this process has locked. */
  static long lockedKilobytes() throws Exception {
    try (var lines = Files.lines(Path.of("/proc/self/status"))) {
      return lines
          .filter(line -> line.startsWith("VmLck:"))
          .map(line -> line.replaceAll("\\D", ""))
          .mapToLong(Long::parseLong)
          .findFirst()
          .orElseThrow();
    }
  }
}
