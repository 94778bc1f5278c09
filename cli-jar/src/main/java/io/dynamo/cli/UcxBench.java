package io.dynamo.cli;

import io.dynamo.cli.BenchTransferCommand.TransferPath;
import io.dynamo.config.plane.UcxMode;
import io.dynamo.config.plane.UcxSettings;
import io.dynamo.error.DynamoException;
import io.dynamo.json.Json;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.jni.NativeHostMemory;
import io.dynamo.transfer.jni.UcxLibrary;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Measures UCX between two regions of this process, where the settings use it. */
final class UcxBench {
  private UcxBench() {}

  /** Describes UCX on this host: its rate, what would use it, or why it is absent. */
  static TransferPath path(
      UcxSettings settings, RegionBench bench, HostMemory memory, long byteSize, int rounds)
      throws InterruptedException {
    var library = new UcxLibrary(settings);
    var probe = Json.readObject(library.probe().getBytes(StandardCharsets.UTF_8));
    if (!Boolean.TRUE.equals(probe.members().get("present"))
        || !(memory instanceof NativeHostMemory nativeMemory)) {
      return new TransferPath(
          "ucx",
          false,
          "absent, %s; only hosts with RDMA need it, the others use tcp (dynamo.transfer.ucx.library)"
              .formatted(probe.optionalText("reason")));
    }
    var version = "UCX %s at %s".formatted(probe.text("version"), probe.text("path"));
    if (settings.mode() == UcxMode.OFF) {
      return new TransferPath(
          "ucx",
          false,
          "not used, %s finds a network card with RDMA: dynamo.transfer.ucx.mode=auto uses it"
              .formatted(version));
    }
    RegionBench.Rates rates;
    try {
      rates = bench.measureUcx(library, nativeMemory, byteSize, rounds);
    } catch (RefusedException | DynamoException failure) {
      return new TransferPath(
          "ucx", false, "absent, %s writes no bytes: %s".formatted(version, failure.getMessage()));
    }
    return new TransferPath(
        "ucx",
        true,
        "%s%s; from one region of this process to another %s GB/s; 4 KiB take %s us"
            .formatted(
                version,
                settings.mode() == UcxMode.ALWAYS ? ", also over TCP, which is for tests" : "",
                shown(rates.gigabytesPerSecond()),
                shown(rates.smallMicros())));
  }

  private static String shown(double value) {
    return String.format(Locale.ROOT, value < 100 ? "%.1f" : "%.0f", value);
  }
}
