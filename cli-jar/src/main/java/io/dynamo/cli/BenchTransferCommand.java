package io.dynamo.cli;

import io.dynamo.config.Settings;
import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.natives.NativeLibrary;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.jni.HostMemorySelection;
import io.dynamo.transfer.jni.NativeHostMemory;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * Lists the ways in which this host, or two hosts, can move KV blocks, and measures their rates.
 */
@Command(
    name = "bench-transfer",
    description =
        "Tells which ways this host has to move KV blocks, why others are absent and what to do"
            + " about it, and how fast they are: copies beside memcpy, writes to another process"
            + " beside plain sockets. With --receive on one host and --to on another, measures"
            + " between the two. Needs no server.")
final class BenchTransferCommand extends Subcommand {
  private static final int MEBI = 1024 * 1024;
  private static final int KIBI = 1024;
  private static final int LARGE_BLOCK_BYTES = 64 * KIBI;
  private static final double SEQUENCE_GIGABYTES = (1 << 30) / 1e9;
  private static final String CUDA_REMEDY =
      "a host with GPUs needs NVIDIA's driver, a container its runtime (--gpus all);"
          + " without GPUs nothing is missing";

  /**
   * One way to move blocks.
   *
   * @param text what it does here; of an absent one the reason and what to do
   */
  record TransferPath(String name, boolean isReady, String text) {
    Map<String, @Nullable Object> members() {
      return JsonObject.ordered("name", name, "ready", isReady, "text", text);
    }
  }

  @Option(
      names = "--bytes",
      paramLabel = "MEBIBYTES",
      defaultValue = "64",
      description = "Size of the memory that is moved each time (default: ${DEFAULT-VALUE}).")
  private int mebibytes;

  @Option(
      names = "--rounds",
      paramLabel = "NUMBER",
      defaultValue = "20",
      description = "Moves of each size; their median counts (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--receive",
      description =
          "Lends memory to another host for --for seconds, and prints the command to run there.")
  private boolean receive;

  @Option(
      names = "--for",
      paramLabel = "SECONDS",
      defaultValue = "600",
      description = "How long --receive waits (default: ${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--to",
      paramLabel = "ADDRESS",
      description = "Measures writes to the host that printed this address.")
  private @Nullable String to;

  @Option(
      names = "--disk",
      paramLabel = "FOLDER",
      defaultValue = "${sys:java.io.tmpdir}",
      description = "Where disk space is measured (default: ${DEFAULT-VALUE}).")
  private Path folder;

  @Option(
      names = "--cuda-library",
      paramLabel = "FILE",
      description = "NVIDIA's driver library (default: libcuda.so.1, as the system finds it).")
  private @Nullable Path cudaLibrary;

  @Option(names = "--json", description = "Prints one line of JSON.")
  private boolean json;

  @Mixin private ConfigurationOptions configuration;

  @SuppressWarnings("NullAway.Init") // the mixin is set by the parser
  BenchTransferCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    if (mebibytes < 16 || mebibytes > 1024 || rounds < 1 || rounds > 10_000) {
      throw wrong("--bytes is from 16 to 1024, --rounds from 1 to 10000");
    }
    if (seconds < 1 || seconds > 3600 || (receive && to != null)) {
      throw wrong("--for is from 1 to 3600; --receive and --to are for two hosts");
    }
    var address = to == null ? null : address(to);
    var settings = settings();
    try (var memory = HostMemorySelection.open(List.of()).memory();
        var bench = new RegionBench(settings, memory)) {
      if (receive) {
        receive(settings, memory, bench);
      } else if (address != null) {
        send(address, bench);
      } else {
        measure(settings, memory, bench);
      }
    }
    return ExitCode.DONE;
  }

  private ParameterException wrong(String why) {
    return new ParameterException(commandLine(), why);
  }

  private RegionAddress address(String word) {
    try {
      return RegionBench.address(word);
    } catch (IllegalArgumentException e) {
      throw wrong("--to is what --receive printed on the other host: " + e.getMessage());
    }
  }

  private Settings settings() {
    try {
      return configuration.settings().read();
    } catch (InvalidSettingsException e) {
      throw new RefusedException(e.getMessage() + System.lineSeparator() + "see `dynamo check`");
    }
  }

  private void receive(Settings settings, HostMemory memory, RegionBench bench)
      throws InterruptedException {
    try (var region = memory.allocate((long) mebibytes * MEBI);
        var export = bench.lend(region, Duration.ofSeconds(seconds))) {
      var address = export.address();
      error()
          .printf(
              "waits %d seconds for bytes at %s:%d, %s; on the other host run%n",
              seconds, address.host(), address.port(), encryption(settings));
      error().flush();
      out().println("dynamo bench-transfer --to " + RegionBench.word(address));
      out().flush();
      var _ = new CountDownLatch(1).await(seconds, TimeUnit.SECONDS); // until then or Ctrl-C
    }
  }

  private void send(RegionAddress address, RegionBench bench) throws InterruptedException {
    var rates = bench.measure(address, rounds);
    if (json) {
      Output.json(out(), JsonObject.ordered("tcp", members(rates)));
      return;
    }
    out()
        .printf(
            "tcp: %s GB/s to %s:%d, every piece checked and acknowledged; 4 KiB on a new connection"
                + " take %s us%n",
            shown(rates.gigabytesPerSecond()),
            address.host(),
            address.port(),
            shown(rates.smallMicros()));
    out().println(advice(rates));
  }

  private void measure(Settings settings, HostMemory memory, RegionBench bench)
      throws InterruptedException {
    long byteSize = (long) mebibytes * MEBI;
    var rows = new CopyBench(memory, rounds).rows(byteSize);
    RegionBench.Rates rates;
    InetAddress host;
    try (var region = memory.allocate(byteSize);
        var export = bench.lend(region, Duration.ofHours(1))) {
      host = InetAddress.ofLiteral(export.address().host());
      rates = bench.measure(export.address(), rounds);
    }
    double plain = plainSockets(host, byteSize);
    var paths = new ArrayList<TransferPath>();
    paths.add(copies(memory.kind(), rows));
    var shared = bench.measureShared(byteSize, rounds);
    double sharedReads = shared == null ? 0 : bench.measureSharedReads(byteSize, rounds);
    paths.add(shm(shared, sharedReads, rows));
    double reads = bench.measureReads(byteSize, rounds);
    paths.add(tcp(settings, host, rates, reads, plain));
    var disk = DiskBench.measure(memory, folder, byteSize, rounds);
    paths.add(disk(disk, folder));
    var device = device(memory, byteSize);
    paths.add(device.path(CUDA_REMEDY));
    paths.add(UcxBench.path(settings.transfer().ucx(), bench, memory, byteSize, rounds));
    paths.add(NixlBench.path(settings.transfer().nixl(), memory, byteSize, rounds));
    if (json) {
      var figures =
          JsonObject.ordered(
              "memory", memory.kind(),
              "machine", machine().members(),
              "paths", paths.stream().map(TransferPath::members).toList(),
              "tcp", withReads(members(rates), reads),
              "plain_sockets_gigabytes_per_second", plain,
              "rows", rows.stream().map(CopyBench.Row::members).toList());
      if (shared != null) {
        var shm = withReads(members(shared.mapped()), sharedReads);
        shm.put("first_gigabytes_per_second", shared.firstGigabytesPerSecond());
        figures.put("shm", shm);
      }
      if (device instanceof DeviceBench.Outcome.Measured measured) {
        figures.put("cuda", measured.rows().stream().map(DeviceBench.Row::members).toList());
      }
      Output.json(out(), figures);
    } else {
      report(paths, rates, rows);
    }
  }

  private double plainSockets(InetAddress host, long byteSize) {
    try {
      return RegionBench.plainSockets(host, byteSize, rounds);
    } catch (IOException e) {
      throw new RefusedException(
          "plain sockets at %s fail: %s; set dynamo.request.tcp.host to an address of this host"
              .formatted(host.getHostAddress(), e.getMessage()));
    }
  }

  private static TransferPath copies(String kind, List<CopyBench.Row> rows) {
    var large = rows.stream().filter(row -> row.blockBytes() >= LARGE_BLOCK_BYTES).toList();
    double slowest =
        large.stream().mapToDouble(row -> row.batched() / row.plain()).min().orElseThrow();
    double rate = large.stream().mapToDouble(CopyBench.Row::batched).min().orElseThrow();
    var speed =
        "; blocks from 64 KiB on at %s GB/s and more, at least %.0f %% of memcpy"
            .formatted(shown(rate), 100 * slowest);
    return new TransferPath(
        "mem",
        true,
        kind.equals("native")
            ? "within a process, native copies, large ones by "
                + machine().optionalText("copy")
                + speed
            : "within a process, copies in plain Java, since %s%s"
                .formatted(NativeLibrary.cause(), speed));
  }

  private static TransferPath shm(
      RegionBench.@Nullable SharedRates rates, double reads, List<CopyBench.Row> rows) {
    if (rates == null) {
      return new TransferPath(
          "shm", false, "absent, %s; processes of this host use tcp".formatted(whyNotShared()));
    }
    return new TransferPath(
        "shm",
        true,
        "between processes of this host and one user, the first write of a lease, which maps the memory, at %s GB/s and further ones at %s GB/s, that is %.0f and %.0f %% of memcpy; 4 KiB take %s us; reads at %s GB/s"
            .formatted(
                shown(rates.firstGigabytesPerSecond()),
                shown(rates.mapped().gigabytesPerSecond()),
                100 * rates.firstGigabytesPerSecond() / rows.getLast().plain(),
                100 * rates.mapped().gigabytesPerSecond() / rows.getLast().plain(),
                shown(rates.mapped().smallMicros()),
                shown(reads)));
  }

  private static String whyNotShared() {
    if (!NativeLibrary.isAvailable()) {
      return "without the native library: " + NativeLibrary.cause();
    }
    var kernel = machine().optionalObject("shared_memory");
    var reason = kernel == null ? null : kernel.optionalText("reason");
    return reason == null ? "see the log" : reason + ": allow memfd_create and file seals";
  }

  private static TransferPath tcp(
      Settings settings, InetAddress host, RegionBench.Rates rates, double reads, double plain) {
    var reach =
        host.isLoopbackAddress()
            ? "only processes of this host reach it: set dynamo.request.tcp.host to an address"
                + " that other hosts reach"
            : "others reach it at " + host.getHostAddress();
    return new TransferPath(
        "tcp",
        true,
        "from process to process, %s GB/s, every piece checked and acknowledged, %.0f %% of plain sockets; 4 KiB on a new connection take %s us; reads at %s GB/s; %s; %s"
            .formatted(
                shown(rates.gigabytesPerSecond()),
                100 * rates.gigabytesPerSecond() / plain,
                shown(rates.smallMicros()),
                shown(reads),
                encryption(settings),
                reach));
  }

  private static TransferPath disk(DiskBench.@Nullable Rates rates, Path folder) {
    return rates == null
        ? new TransferPath(
            "disk", false, "absent without the native library: " + NativeLibrary.cause())
        : new TransferPath(
            "disk",
            true,
            "%s in %s, writes %s GB/s, %.0f %% of plain ones, reads %s GB/s, %.0f %%"
                .formatted(
                    rates.way(),
                    folder,
                    shown(rates.write()),
                    100 * rates.write() / rates.plainWrite(),
                    shown(rates.read()),
                    100 * rates.read() / rates.plainRead()));
  }

  private DeviceBench.Outcome device(HostMemory memory, long byteSize) throws InterruptedException {
    return memory instanceof NativeHostMemory nativeMemory
        ? DeviceBench.measure(nativeMemory, cudaLibrary, byteSize, rounds)
        : new DeviceBench.Outcome.Absent("without the native library: " + NativeLibrary.cause());
  }

  private static String encryption(Settings settings) {
    return settings.tcp().tls().certificate() == null
        ? "not encrypted (dynamo.request.tcp.tls)"
        : "encrypted";
  }

  /** Explains a rate in terms of the operator's models. */
  private static String advice(RegionBench.Rates rates) {
    return "the blocks of 8192 tokens of a model with 8 billion parameters (1 GiB) take %s s by tcp: moving them pays where computing that prompt takes longer"
        .formatted(
            String.format(Locale.ROOT, "%.2f", SEQUENCE_GIGABYTES / rates.gigabytesPerSecond()));
  }

  private void report(List<TransferPath> paths, RegionBench.Rates rates, List<CopyBench.Row> rows) {
    var out = out();
    paths.forEach(path -> out.println(path.name() + ": " + path.text()));
    out.println(advice(rates));
    var table = new ArrayList<List<String>>();
    table.add(List.of("BLOCK", "BLOCKS", "MEMCPY GB/S", "BATCH GB/S", "OF MEMCPY", "ONE BLOCK US"));
    for (var row : rows) {
      table.add(
          List.of(
              row.blockBytes() / KIBI + " KiB",
              String.valueOf(row.blocks()),
              shown(row.plain()),
              shown(row.batched()),
              String.format(Locale.ROOT, "%.0f %%", 100 * row.batched() / row.plain()),
              shown(row.micros())));
    }
    Output.table(out, table);
  }

  static String shown(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private static Map<String, @Nullable Object> members(RegionBench.Rates rates) {
    return JsonObject.ordered(
        "gigabytes_per_second", rates.gigabytesPerSecond(),
        "small_write_micros", rates.smallMicros());
  }

  private static Map<String, @Nullable Object> withReads(
      Map<String, @Nullable Object> members, double reads) {
    members.put("read_gigabytes_per_second", reads);
    return members;
  }

  /** Returns the native library's description of the machine; empty without the library. */
  private static JsonObject machine() {
    var probe = Json.readObject(NativeLibrary.probe().getBytes(StandardCharsets.UTF_8));
    var machine = probe.optionalObject("machine");
    return machine == null ? new JsonObject(Map.of()) : machine;
  }
}
