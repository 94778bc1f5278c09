package io.dynamo.cli;

import io.dynamo.concurrent.Deadline;
import io.dynamo.json.JsonObject;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.TransferClient.Priority;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Measures copies of blocks within this process beside memcpy. For one thread. */
final class CopyBench {
  private static final Duration LONGEST = Duration.ofSeconds(30); // for one batch
  private static final int WARM_UPS = 3;
  private static final int KIBI = 1024;
  private static final int MOST_BLOCKS = 16 * 1024; // of one batch
  private static final int[] BLOCK_KIBIBYTES = {4, 64, 1024, 16 * 1024};
  private static final double NANOS_PER_MICRO = 1e3;

  /**
   * The measurement of one size of blocks.
   *
   * @param plain gigabytes per second of memcpy, called for each block
   * @param batched the same of a batch through the transfer client
   * @param micros median from the call to the end of a batch of one block
   */
  record Row(int blockBytes, int blocks, double plain, double batched, double micros) {
    Map<String, @Nullable Object> members() {
      return JsonObject.ordered(
          "block_bytes", blockBytes,
          "blocks", blocks,
          "memcpy_gigabytes_per_second", plain,
          "batch_gigabytes_per_second", batched,
          "one_block_micros", micros);
    }
  }

  private final HostMemory memory;
  private final int rounds;

  /**
   * @param rounds copies of each size; their median counts
   */
  CopyBench(HostMemory memory, int rounds) {
    this.memory = memory;
    this.rounds = rounds;
  }

  /** Measures all sizes of blocks, the smallest first, over {@code byteSize} bytes each. */
  List<Row> rows(long byteSize) throws InterruptedException {
    var rows = new ArrayList<Row>();
    try (var source = memory.allocate(2 * byteSize);
        var target = memory.allocate(byteSize)) {
      for (int kibibytes : BLOCK_KIBIBYTES) {
        rows.add(measure(source, target, kibibytes * KIBI));
      }
    }
    return rows;
  }

  /** Copies every second block of {@code source} into {@code target}. */
  private Row measure(Region source, Region target, int blockBytes) throws InterruptedException {
    int blocks = (int) Math.min(target.byteSize() / blockBytes, MOST_BLOCKS);
    var batch = new CopyBatch();
    for (int i = 0; i < blocks; i++) {
      batch.add(2L * i * blockBytes, (long) i * blockBytes, blockBytes);
    }
    var one = new CopyBatch().add(0, 0, blockBytes);
    double[] plain = new double[rounds];
    double[] batched = new double[rounds];
    double[] single = new double[rounds];
    for (int round = -WARM_UPS; round < rounds; round++) {
      int at = Math.max(round, 0);
      long begin = System.nanoTime();
      memory.copy(source, target, batch);
      plain[at] = System.nanoTime() - begin;
      batched[at] = nanos(source, target, batch);
      single[at] = nanos(source, target, one);
    }
    double bytes = (double) blocks * blockBytes;
    return new Row(
        blockBytes,
        blocks,
        bytes / median(plain),
        bytes / median(batched),
        median(single) / NANOS_PER_MICRO);
  }

  private long nanos(Region source, Region target, CopyBatch batch) throws InterruptedException {
    var deadline = Deadline.after(LONGEST);
    long begin = System.nanoTime();
    memory.transfers().copy(source, target, batch, Priority.ONBOARD, deadline).await(deadline);
    return System.nanoTime() - begin;
  }

  static double median(double... values) {
    var sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
