package io.dynamo.cli;

import io.dynamo.cli.BenchTransferCommand.TransferPath;
import io.dynamo.config.plane.NixlSettings;
import io.dynamo.error.DynamoException;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.jni.NixlLibrary;
import io.dynamo.transfer.nixl.Connector;
import io.dynamo.transfer.nixl.Descriptor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * Measures NIXL between two agents of this process, where it is installed. For one thread.
 *
 * <p>Each round is a whole operation of {@code nixl_connect}: an offer, its transfer and the
 * notification, with memory that is registered beforehand.
 */
final class NixlBench {
  private static final Duration LONGEST = Duration.ofMinutes(1); // for one operation
  private static final int SMALL_BYTES = 4096;

  /** The rates in gigabytes per second, and the time of a small write. */
  record Rates(double write, double read, double smallMicros) {}

  private final Connector owner;
  private final Connector other;
  private final int rounds;

  private NixlBench(Connector owner, Connector other, int rounds) {
    this.owner = owner;
    this.other = other;
    this.rounds = rounds;
  }

  /** Describes NIXL on this host: its rates, or why it is absent. */
  static TransferPath path(NixlSettings settings, HostMemory memory, long byteSize, int rounds)
      throws InterruptedException {
    var library = NixlLibrary.of(settings);
    var probe = Json.readObject(library.probe().getBytes(StandardCharsets.UTF_8));
    if (!Boolean.TRUE.equals(probe.members().get("present"))) {
      return absent(String.valueOf(probe.optionalText("reason")));
    }
    try {
      var rates = measure(library, memory, byteSize, rounds);
      return new TransferPath(
          "nixl",
          true,
          "%s by %s, plug-ins %s; between two agents of this process writes %s GB/s, reads %s GB/s; 4 KiB take %s us"
              .formatted(
                  probe.text("path"),
                  String.join(", ", settings.backends()),
                  plugins(probe),
                  shown(rates.write),
                  shown(rates.read),
                  shown(rates.smallMicros)));
    } catch (DynamoException e) {
      return absent(String.valueOf(e.getMessage()));
    }
  }

  private static TransferPath absent(String reason) {
    return new TransferPath(
        "nixl",
        false,
        "absent, %s; only code that moves memory together with Dynamo's nixl_connect needs it: install"
                .formatted(reason)
            + " the package nixl and set dynamo.transfer.nixl.library");
  }

  private static String plugins(JsonObject probe) {
    return String.join(" ", probe.list("plugins").stream().map(String::valueOf).toList());
  }

  private static Rates measure(NixlLibrary library, HostMemory memory, long byteSize, int rounds)
      throws InterruptedException {
    try (var owner = new Connector(library);
        var other = new Connector(library);
        var mine = memory.allocate(byteSize);
        var theirs = memory.allocate(byteSize);
        var here = Descriptor.of(mine);
        var there = Descriptor.of(theirs)) {
      here.register(owner);
      there.register(other);
      return new NixlBench(owner, other, rounds).measure(here, there);
    }
  }

  private Rates measure(Descriptor here, Descriptor there) throws InterruptedException {
    var smallHere = Descriptor.of(here.bytes().asSlice(0, SMALL_BYTES));
    var smallThere = Descriptor.of(there.bytes().asSlice(0, SMALL_BYTES));
    double[] write = new double[rounds];
    double[] read = new double[rounds];
    double[] small = new double[rounds];
    for (int round = -1; round < rounds; round++) { // the first one warms up
      int at = Math.max(round, 0);
      write[at] = write(here, there);
      read[at] = read(here, there);
      small[at] = write(smallHere, smallThere);
    }
    long byteSize = here.byteSize();
    return new Rates(
        byteSize / CopyBench.median(write),
        byteSize / CopyBench.median(read),
        CopyBench.median(small) / 1e3);
  }

  private long write(Descriptor here, Descriptor there) throws InterruptedException {
    try (var offer = owner.createWritable(List.of(here), LONGEST)) {
      var metadata = offer.metadata(LONGEST);
      long begin = System.nanoTime();
      try (var write = other.beginWrite(List.of(there), metadata, LONGEST)) {
        write.await(LONGEST);
        offer.await(LONGEST);
      }
      return System.nanoTime() - begin;
    }
  }

  private long read(Descriptor here, Descriptor there) throws InterruptedException {
    try (var offer = owner.createReadable(List.of(here), LONGEST)) {
      var metadata = offer.metadata(LONGEST);
      long begin = System.nanoTime();
      try (var read = other.beginRead(metadata, List.of(there), LONGEST)) {
        read.await(LONGEST);
        offer.await(LONGEST);
      }
      return System.nanoTime() - begin;
    }
  }

  private static String shown(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
