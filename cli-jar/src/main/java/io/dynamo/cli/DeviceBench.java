package io.dynamo.cli;

import io.dynamo.cli.BenchTransferCommand.TransferPath;
import io.dynamo.concurrent.Deadline;
import io.dynamo.json.JsonObject;
import io.dynamo.transfer.BlockRegion;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.DeviceLostException;
import io.dynamo.transfer.DeviceMemory;
import io.dynamo.transfer.DeviceMemory.DeviceFacts;
import io.dynamo.transfer.DeviceMemory.PinnedUse;
import io.dynamo.transfer.DeviceMemoryExhaustedException;
import io.dynamo.transfer.HostMemoryExhaustedException;
import io.dynamo.transfer.TransferClient.Priority;
import io.dynamo.transfer.jni.DeviceUnavailableException;
import io.dynamo.transfer.jni.NativeDeviceMemory;
import io.dynamo.transfer.jni.NativeHostMemory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Measures copies of blocks to, from and within a GPU beside one large copy of the same direction,
 * which is what its copy engines can do. For one thread.
 */
final class DeviceBench {
  private static final Duration LONGEST = Duration.ofMinutes(1); // for one batch
  private static final int KIBI = 1024;
  private static final int[] BLOCK_KIBIBYTES = {4, 16, 64, 256, 1024, 4 * 1024, 16 * 1024};
  private static final int TOLD_BYTES = 64 * KIBI;
  private static final int WARM_UPS = 2;
  private static final int CHECKED_BYTES = 4 * KIBI;

  /** A direction of copies. */
  enum CopyDirection {
    TO("to it"),
    FROM("from it"),
    WITHIN("within it");

    private final String words;

    CopyDirection(String words) {
      this.words = words;
    }

    String words() {
      return words;
    }
  }

  /**
   * The measurement of one direction and size of blocks.
   *
   * @param scattered whether blocks lie apart, in a random order
   * @param rate gigabytes per second
   * @param ceiling the same of one large copy
   */
  record Row(
      CopyDirection direction, int blockBytes, boolean scattered, double rate, double ceiling) {
    private String words() {
      return "%s at %s GB/s, %.0f %% of one large copy"
          .formatted(direction.words(), BenchTransferCommand.shown(rate), 100 * rate / ceiling);
    }

    Map<String, @Nullable Object> members() {
      return JsonObject.ordered(
          "direction", direction.name().toLowerCase(Locale.ROOT),
          "block_bytes", blockBytes,
          "scattered", scattered,
          "gigabytes_per_second", rate,
          "large_copy_gigabytes_per_second", ceiling);
    }
  }

  /** The measurement of a GPU, or why there is none. */
  sealed interface Outcome {
    /**
     * Describes the GPU as one of a host's ways to move blocks.
     *
     * @param remedy what brings a GPU that is not there
     */
    TransferPath path(String remedy);

    /** A GPU. */
    record Measured(DeviceFacts facts, List<Row> rows) implements Outcome {
      @Override
      public TransferPath path(String remedy) {
        var kernels =
            facts.whyNoKernels().isEmpty()
                ? ""
                : ", without kernels (%s)".formatted(facts.whyNoKernels());
        var rates =
            rows.stream()
                .filter(row -> row.scattered() && row.blockBytes() == TOLD_BYTES)
                .map(Row::words)
                .collect(Collectors.joining(", "));
        return new TransferPath(
            "cuda",
            true,
            "%s, CUDA %s%s; scattered blocks of 64 KiB %s"
                .formatted(facts.name(), facts.driverVersion(), kernels, rates));
      }
    }

    /** No GPU. */
    record Absent(String reason) implements Outcome {
      @Override
      public TransferPath path(String remedy) {
        return new TransferPath("cuda", false, "absent, %s; %s".formatted(reason, remedy));
      }
    }
  }

  private final DeviceMemory device;
  private final int rounds;

  private DeviceBench(DeviceMemory device, int rounds) {
    this.device = device;
    this.rounds = rounds;
  }

  /**
   * Measures the first GPU.
   *
   * @param library path of the driver's library, or null for the system's
   */
  static Outcome measure(NativeHostMemory memory, @Nullable Path library, long byteSize, int rounds)
      throws InterruptedException {
    try (var device = new NativeDeviceMemory(memory, 0, library)) {
      return new Outcome.Measured(device.facts(), new DeviceBench(device, rounds).rows(byteSize));
    } catch (DeviceUnavailableException
        | DeviceLostException
        | DeviceMemoryExhaustedException
        | HostMemoryExhaustedException e) {
      return new Outcome.Absent(String.valueOf(e.getMessage()));
    }
  }

  private List<Row> rows(long byteSize) throws InterruptedException {
    var rows = new ArrayList<Row>();
    try (var near = device.allocate(2 * byteSize);
        var other = device.allocate(byteSize);
        var source = device.allocatePinned(2 * byteSize, PinnedUse.READ_AND_WRITE);
        var target = device.allocatePinned(byteSize, PinnedUse.READ_AND_WRITE)) {
      var piece = ByteBuffer.allocateDirect(CHECKED_BYTES);
      new Random(1).ints(CHECKED_BYTES / Integer.BYTES).forEach(piece::putInt);
      for (long at = 0; at < source.byteSize(); at += CHECKED_BYTES) {
        source.write(at, piece.flip());
      }
      nanos(source, near, new CopyBatch().add(0, 0, source.byteSize()));
      for (var direction : CopyDirection.values()) {
        BlockRegion from = direction == CopyDirection.TO ? source : near;
        BlockRegion to = direction == CopyDirection.FROM ? target : other;
        double ceiling = rate(from, to, new CopyBatch().add(0, 0, byteSize), byteSize);
        for (int kibibytes : BLOCK_KIBIBYTES) {
          for (boolean scattered : new boolean[] {false, true}) {
            int blockBytes = kibibytes * KIBI;
            var batch = batch(byteSize, blockBytes, scattered);
            long bytes = (long) batch.count() * blockBytes;
            rows.add(
                new Row(direction, blockBytes, scattered, rate(from, to, batch, bytes), ceiling));
          }
        }
      }
      requireSame(piece, source, other);
    }
    return rows;
  }

  /** Every piece of the source is the same: so is every piece that has arrived. */
  private void requireSame(ByteBuffer piece, BlockRegion source, BlockRegion other)
      throws InterruptedException {
    try (var back = device.allocatePinned(CHECKED_BYTES, PinnedUse.READ_AND_WRITE)) {
      nanos(source, other, new CopyBatch().add(0, 0, CHECKED_BYTES));
      nanos(other, back, new CopyBatch().add(0, 0, CHECKED_BYTES));
      var arrived = ByteBuffer.allocateDirect(CHECKED_BYTES);
      back.read(0, arrived);
      if (arrived.flip().mismatch(piece.position(0).limit(CHECKED_BYTES)) >= 0) {
        throw new RefusedException("the GPU returned other bytes than were copied to it");
      }
    }
  }

  private static CopyBatch batch(long byteSize, int blockBytes, boolean scattered) {
    int blocks = (int) (byteSize / blockBytes);
    var order = new ArrayList<Integer>();
    for (int i = 0; i < blocks; i++) {
      order.add(i);
    }
    if (scattered) {
      Collections.shuffle(order, new Random(blocks));
    }
    var batch = new CopyBatch();
    for (int i = 0; i < blocks; i++) {
      long from = (scattered ? 2L : 1L) * order.get(i) * blockBytes;
      batch.add(from, (long) i * blockBytes, blockBytes);
    }
    return batch;
  }

  private double rate(BlockRegion from, BlockRegion to, CopyBatch batch, long bytes)
      throws InterruptedException {
    double[] nanos = new double[rounds];
    for (int round = -Math.min(WARM_UPS, rounds); round < rounds; round++) {
      nanos[Math.max(round, 0)] = nanos(from, to, batch);
    }
    return bytes / CopyBench.median(nanos);
  }

  private long nanos(BlockRegion from, BlockRegion to, CopyBatch batch)
      throws InterruptedException {
    var deadline = Deadline.after(LONGEST);
    long begin = System.nanoTime();
    device.transfers().copy(from, to, batch, Priority.ONBOARD, deadline).await(deadline);
    return System.nanoTime() - begin;
  }
}
