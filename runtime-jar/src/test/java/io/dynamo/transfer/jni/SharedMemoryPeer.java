package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.event.Until;
import io.dynamo.json.Json;
import io.dynamo.metrics.Metrics;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.natives.RegionLoans;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.testing.TestSettings;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.transfer.RegionExchange.Range;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.jni.SharedMemoryExchange.Patience;
import io.dynamo.transfer.tcp.TcpRegionExchange;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadFactory;

/**
 * The other process of {@link SharedMemoryProcessTest} and {@link RegionReadProcessTest}: obeys one
 * word per line, and answers each with a line. It ends with its standard input.
 */
final class SharedMemoryPeer {
  /** Of tests on a loaded machine, where no time limit is what they are about. */
  static final Patience PATIENT = new Patience(Duration.ofSeconds(20), Duration.ofSeconds(20));

  static final int SIZE = 4 << 20;

  private SharedMemoryPeer() {}

  /** Makes an exchange by shared memory, and by TCP where there is none. */
  static SharedMemoryExchange exchange(
      HostMemory memory,
      EventLoops loops,
      Metrics metrics,
      ThreadFactory threads,
      Patience patience) {
    var settings = TestSettings.defaults();
    return new SharedMemoryExchange(
        new TcpRegionExchange(settings.tcp(), settings.transfer(), loops),
        memory,
        metrics,
        threads,
        patience);
  }

  /** Makes one that takes its time, with threads of its own. */
  static SharedMemoryExchange exchange(HostMemory memory, EventLoops loops, Metrics metrics) {
    return exchange(memory, loops, metrics, Thread.ofPlatform().daemon().factory(), PATIENT);
  }

  public static void main(String... arguments) throws Exception {
    try (var loops = new EventLoops(1);
        var memory = new NativeHostMemory();
        var exchange = exchange(memory, loops, new Metrics());
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var region = memory.allocateShared(SIZE)) {
      for (var line = in.readLine(); line != null; line = in.readLine()) {
        var words = List.of(line.split(" ", 2));
        System.out.println(
            PeerProcess.ANSWER
                + switch (words.getFirst()) {
                  case "lend" -> lend(exchange, region, Permission.WRITE);
                  case "lend-to-read" -> {
                    region.write(0, ByteBuffer.wrap(filled(SIZE, (byte) 7)));
                    yield lend(exchange, region, Permission.READ);
                  }
                  case "read-on" -> readOn(exchange, region, address(words.get(1)));
                  case "crc" -> String.valueOf(region.crc32c(0, SIZE));
                  case "write" -> {
                    region.write(0, ByteBuffer.wrap(filled(SIZE, (byte) 7)));
                    var soon = Deadline.after(Duration.ofSeconds(20));
                    yield String.valueOf(
                        exchange.write(region, SIZE, address(words.get(1)), soon).await(soon));
                  }
                  case "held" -> {
                    // The lender has seen the end of it; this process counts a moment later.
                    Until.holds(() -> NativeTransfer.heldBytes() == SIZE);
                    yield String.valueOf(NativeTransfer.heldBytes());
                  }
                  case "keep" -> keep(address(words.get(1)));
                  default -> throw new IllegalArgumentException(line);
                });
        System.out.flush();
      }
    }
  }

  private static String lend(RegionExchange exchange, Region region, Permission permission) {
    var export = exchange.export(region, permission, Duration.ofMinutes(5));
    return new String(Json.write(export.address().toMembers()), StandardCharsets.UTF_8);
  }

  /**
   * Reads a region of sevens again and again, and says why that has ended; {@code foreign} after a
   * read that completed with other bytes.
   */
  private static String readOn(RegionExchange exchange, Region target, RegionAddress from)
      throws InterruptedException {
    var soon = Deadline.after(Duration.ofSeconds(60));
    var expected = filled(SIZE, (byte) 7);
    var bytes = new byte[SIZE];
    try {
      while (true) {
        exchange.read(from, new Range(0, 0, SIZE), target, soon).await(soon);
        target.read(0, ByteBuffer.wrap(bytes));
        if (!Arrays.equals(bytes, expected)) {
          return "foreign";
        }
      }
    } catch (TransferFailedException over) {
      return over.reason().toString();
    }
  }

  static byte[] filled(int size, byte value) {
    var bytes = new byte[size];
    Arrays.fill(bytes, value);
    return bytes;
  }

  static RegionAddress address(String json) {
    return RegionAddress.of(Json.readObject(json.getBytes(StandardCharsets.UTF_8)));
  }

  /** Maps a region and does not let go of it, as a process that stands still in its copy. */
  private static String keep(RegionAddress to) {
    var sharing = to.sharing();
    if (sharing == null) {
      throw new UncheckedIOException(new IOException("the address names no shared memory"));
    }
    long loan =
        RegionLoans.ask(
            sharing.name().getBytes(StandardCharsets.US_ASCII), to.lease(), to.secret(), false);
    long region = RegionLoans.await(loan, to.byteSize(), Duration.ofSeconds(20).toNanos());
    return region > 0 ? "kept" : "refused " + region;
  }
}
