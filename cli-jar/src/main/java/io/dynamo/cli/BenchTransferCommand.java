package io.dynamo.cli;

import io.dynamo.concurrent.Deadline;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.natives.NativeLibrary;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.TransferClient.Priority;
import io.dynamo.transfer.jni.HostMemorySelection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Tells which ways this host has to move KV blocks, and how fast they are. */
@Command(
    name = "bench-transfer",
    description =
        "Tells which ways this host has to move KV blocks, and measures copies of blocks beside"
            + " memcpy. Needs no server.")
final class BenchTransferCommand extends Subcommand {
  private static final Duration LONGEST = Duration.ofSeconds(30); // for one batch
  private static final int WARM_UPS = 3;
  private static final int KIBI = 1024;
  private static final int[] BLOCK_KIBIBYTES = {4, 64, 1024, 16 * 1024};
  private static final double NANOS_PER_MICRO = 1e3;

  /**
   * The measurement of one size of blocks.
   *
   * @param plain gigabytes per second of memcpy, called for each block
   * @param batched the same of a batch through the transfer client
   * @param micros median from the call to the end of a batch of one block
   */
  record Row(int blockBytes, int blocks, double plain, double batched, double micros) {}

  @Option(
      names = "--bytes",
      paramLabel = "MEBIBYTES",
      defaultValue = "64",
      description = "Size of the memory that is copied each time (default: ${DEFAULT-VALUE}).")
  private int mebibytes;

  @Option(
      names = "--rounds",
      paramLabel = "NUMBER",
      defaultValue = "20",
      description = "Copies of each size; their median counts (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(names = "--json", description = "Prints one line of JSON.")
  private boolean json;

  BenchTransferCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    if (mebibytes < 16 || mebibytes > 1024 || rounds < 1 || rounds > 10_000) {
      throw new ParameterException(
          commandLine(), "--bytes is from 16 to 1024, --rounds from 1 to 10000");
    }
    var rows = new ArrayList<Row>();
    String kind;
    try (var memory = HostMemorySelection.open(List.of()).memory()) {
      kind = memory.kind();
      long size = (long) mebibytes * KIBI * KIBI;
      try (var source = memory.allocate(2 * size);
          var target = memory.allocate(size)) {
        for (int kibibytes : BLOCK_KIBIBYTES) {
          rows.add(measure(memory, source, target, kibibytes * KIBI));
        }
      }
    }
    report(kind, rows);
    return ExitCode.DONE;
  }

  /** Copies every second block of {@code source} into {@code target}. */
  private Row measure(HostMemory memory, Region source, Region target, int blockBytes)
      throws InterruptedException {
    int blocks = (int) (target.byteSize() / blockBytes);
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
      batched[at] = nanos(memory, source, target, batch);
      single[at] = nanos(memory, source, target, one);
    }
    double bytes = (double) blocks * blockBytes;
    return new Row(
        blockBytes,
        blocks,
        bytes / median(plain),
        bytes / median(batched),
        median(single) / NANOS_PER_MICRO);
  }

  private static long nanos(HostMemory memory, Region source, Region target, CopyBatch batch)
      throws InterruptedException {
    var deadline = Deadline.after(LONGEST);
    long begin = System.nanoTime();
    memory.transfers().copy(source, target, batch, Priority.ONBOARD, deadline).await(deadline);
    return System.nanoTime() - begin;
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }

  private void report(String kind, List<Row> rows) {
    var machine = machine();
    if (json) {
      Output.json(
          out(),
          JsonObject.ordered(
              "memory", kind,
              "machine", machine.members(),
              "rows", rows.stream().map(BenchTransferCommand::members).toList()));
      return;
    }
    var out = out();
    out.println(
        kind.equals("native")
            ? "mem: native copies, large ones by " + machine.optionalText("copy")
            : "mem: copies in plain Java, since " + NativeLibrary.cause());
    for (var library : machine.optionalObjects("libraries")) {
      out.println(
          library.text("for")
              + (Boolean.TRUE.equals(library.members().get("present"))
                  ? ": the library " + library.text("name") + " is here; no transfer uses it yet"
                  : ": absent, " + library.optionalText("reason")));
    }
    var table = new ArrayList<List<String>>();
    table.add(List.of("BLOCK", "BLOCKS", "MEMCPY GB/S", "BATCH GB/S", "OF MEMCPY", "ONE BLOCK US"));
    for (var row : rows) {
      table.add(
          List.of(
              row.blockBytes / KIBI + " KiB",
              String.valueOf(row.blocks),
              shown("%.1f", row.plain),
              shown("%.1f", row.batched),
              shown("%.0f %%", 100 * row.batched / row.plain),
              shown("%.1f", row.micros)));
    }
    Output.table(out, table);
  }

  private static String shown(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }

  private static Map<String, @Nullable Object> members(Row row) {
    return JsonObject.ordered(
        "block_bytes", row.blockBytes,
        "blocks", row.blocks,
        "memcpy_gigabytes_per_second", row.plain,
        "batch_gigabytes_per_second", row.batched,
        "one_block_micros", row.micros);
  }

  /** Returns the native library's description of the machine; empty without the library. */
  private static JsonObject machine() {
    var probe = Json.readObject(NativeLibrary.probe().getBytes(StandardCharsets.UTF_8));
    var machine = probe.optionalObject("machine");
    return machine == null ? new JsonObject(Map.of()) : machine;
  }
}
