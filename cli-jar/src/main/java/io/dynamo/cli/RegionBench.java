package io.dynamo.cli;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.Settings;
import io.dynamo.error.DynamoException;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransferMetrics;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.jni.NativeHostMemory;
import io.dynamo.transfer.jni.SharedMemoryExchange;
import io.dynamo.transfer.jni.UcxExchange;
import io.dynamo.transfer.jni.UcxLibrary;
import io.dynamo.transfer.tcp.TcpRegionExchange;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * Measures writes into a region over TCP, and by shared memory, as a worker sends KV blocks to
 * another one, and reads: with the address, the port and the TLS of the settings. For one thread.
 */
final class RegionBench implements AutoCloseable {
  /** The bound of the size that an address may claim. */
  static final long MAX_BYTES = 1L << 30;

  private static final String SCHEME = "dkv1:";
  private static final Duration LONGEST = Duration.ofSeconds(60); // for one write
  private static final int SMALL_BYTES = 4 * 1024;
  private static final int PIECE_BYTES = 256 * 1024;
  private static final double NANOS_PER_MICRO = 1e3;

  /**
   * The rate of one way between two processes.
   *
   * @param gigabytesPerSecond of writes of the whole region
   * @param smallMicros the median of writes of 4 KiB, each on a connection of its own
   */
  record Rates(double gigabytesPerSecond, double smallMicros) {}

  /**
   * The rates of shared memory.
   *
   * @param firstGigabytesPerSecond of the first write of a lease, which maps the region
   * @param mapped of further ones
   */
  record SharedRates(double firstGigabytesPerSecond, Rates mapped) {}

  private final Settings settings;
  private final HostMemory memory;
  private final EventLoops loops = new EventLoops(2);
  private final TcpRegionExchange exchange;
  private final SharedMemoryExchange sharing; // over exchange, which it closes

  /**
   * @param memory allocates what is sent
   */
  RegionBench(Settings settings, HostMemory memory) {
    this.settings = settings;
    this.memory = memory;
    this.exchange = new TcpRegionExchange(settings.tcp(), settings.transfer(), loops);
    this.sharing = new SharedMemoryExchange(exchange, memory, new Metrics());
  }

  /** Lets whoever has its address write into a region. */
  RegionExchange.Export lend(Region region, Duration time) {
    try {
      return exchange.export(region, time);
    } catch (IllegalStateException e) {
      throw new RefusedException(
          "%s; set dynamo.request.tcp.host and dynamo.transfer.port to what this host has"
              .formatted(e.getMessage()));
    }
  }

  /**
   * Writes into the region at {@code to} again and again.
   *
   * @throws RefusedException when the bytes do not arrive
   */
  Rates measure(RegionAddress to, int rounds) throws InterruptedException {
    return measure(exchange, to, rounds);
  }

  /**
   * Writes into memory that processes of this host share. Returns null when there is none.
   *
   * @throws RefusedException when the bytes do not arrive
   */
  @Nullable SharedRates measureShared(long byteSize, int rounds) throws InterruptedException {
    double[] first = new double[rounds];
    try (var source = memory.allocate(byteSize)) {
      for (int round = -1; round < rounds; round++) {
        try (var region = memory.allocateShared(byteSize);
            var export = sharing.export(region, LONGEST.multipliedBy(2))) {
          if (export.address().sharing() == null) {
            return null;
          }
          first[Math.max(round, 0)] = write(sharing, source, byteSize, export.address());
        }
      }
    } catch (DynamoException e) {
      throw new RefusedException("shared memory took no bytes: " + e.getMessage());
    }
    try (var region = memory.allocateShared(byteSize);
        var export = sharing.export(region, LONGEST.multipliedBy(rounds + 1L))) {
      return new SharedRates(
          byteSize / CopyBench.median(first), measure(sharing, export.address(), rounds));
    }
  }

  /**
   * Reads a whole region of this process over TCP again and again. Returns gigabytes per second.
   *
   * @throws RefusedException when the bytes do not arrive
   */
  double measureReads(long byteSize, int rounds) throws InterruptedException {
    return measureReads(exchange, byteSize, rounds);
  }

  /** Does as {@link #measureReads}, by shared memory, where processes of this host have it. */
  double measureSharedReads(long byteSize, int rounds) throws InterruptedException {
    return measureReads(sharing, byteSize, rounds);
  }

  private double measureReads(RegionExchange by, long byteSize, int rounds)
      throws InterruptedException {
    double[] nanos = new double[rounds];
    var lease = LONGEST.multipliedBy(rounds + 1L);
    var whole = new RegionExchange.Range(0, 0, byteSize);
    try (var region = memory.allocateShared(byteSize);
        var target = memory.allocate(byteSize);
        var export = by.export(region, Permission.READ, lease)) {
      for (int round = -1; round < rounds; round++) { // the first one warms up
        var deadline = Deadline.after(LONGEST);
        long begin = System.nanoTime();
        await(by.read(export.address(), whole, target, deadline), deadline);
        nanos[Math.max(round, 0)] = System.nanoTime() - begin;
      }
    } catch (DynamoException e) {
      throw new RefusedException("a region of this process is not read: " + e.getMessage());
    }
    return byteSize / CopyBench.median(nanos);
  }

  /**
   * Writes by UCX into a region of this process.
   *
   * @throws RefusedException when the bytes do not arrive
   */
  Rates measureUcx(UcxLibrary library, NativeHostMemory regions, long byteSize, int rounds)
      throws InterruptedException {
    var metrics = new Metrics();
    try (var ucx =
            new UcxExchange(
                new SharedMemoryExchange(
                    new TcpRegionExchange(settings.tcp(), settings.transfer(), loops),
                    regions,
                    metrics),
                regions,
                library,
                metrics);
        var region = regions.allocate(byteSize);
        var export = exportByUcx(ucx, region, LONGEST.multipliedBy(rounds + 1L))) {
      var rates = measure(ucx, export.address(), rounds);
      if (metrics.counter(TransferMetrics.WRITTEN_BYTES, new Label("path", "ucx")).value() == 0) {
        throw new RefusedException("UCX took no bytes; the log says why");
      }
      return rates;
    }
  }

  private static RegionExchange.Export exportByUcx(UcxExchange ucx, Region region, Duration time) {
    if (!ucx.awaitReady(LONGEST)) {
      throw new RefusedException("UCX does not open; the log says why");
    }
    return ucx.export(region, time);
  }

  private Rates measure(RegionExchange by, RegionAddress to, int rounds)
      throws InterruptedException {
    double[] whole = new double[rounds];
    double[] small = new double[rounds];
    long smallBytes = Math.min(SMALL_BYTES, to.byteSize());
    try (var source = memory.allocate(to.byteSize())) {
      for (int round = -1; round < rounds; round++) { // the first one warms up
        int at = Math.max(round, 0);
        whole[at] = write(by, source, to.byteSize(), to);
        small[at] = write(by, source, smallBytes, to);
      }
    } catch (DynamoException e) {
      throw new RefusedException(
          "%s; check that the other side still waits, that no firewall is between, and that both have the same TLS (dynamo.request.tcp.tls)"
              .formatted(e.getMessage()));
    }
    return new Rates(
        to.byteSize() / CopyBench.median(whole), CopyBench.median(small) / NANOS_PER_MICRO);
  }

  private static long write(RegionExchange by, Region source, long byteSize, RegionAddress to)
      throws InterruptedException {
    var deadline = Deadline.after(LONGEST);
    long begin = System.nanoTime();
    await(by.write(source, byteSize, to, deadline), deadline);
    return System.nanoTime() - begin;
  }

  private static void await(Transfer transfer, Deadline deadline) throws InterruptedException {
    try {
      transfer.await(deadline);
    } catch (RuntimeException | InterruptedException failure) {
      transfer.cancel();
      throw failure;
    }
  }

  /** Returns the gigabytes per second of plain sockets between two threads of this host. */
  static double plainSockets(InetAddress host, long byteSize, int rounds) throws IOException {
    double[] nanos = new double[rounds];
    try (var listener = new ServerSocket(0, 1, host);
        var writer = new Socket()) {
      writer.connect(
          new InetSocketAddress(host, listener.getLocalPort()), (int) LONGEST.toMillis());
      writer.setSoTimeout((int) LONGEST.toMillis());
      var _ =
          Thread.ofVirtual().start(() -> acknowledge(listener, byteSize)); // ends with the socket
      var piece = new byte[PIECE_BYTES];
      for (int round = -1; round < rounds; round++) {
        long begin = System.nanoTime();
        for (long left = byteSize; left > 0; left -= piece.length) {
          writer.getOutputStream().write(piece, 0, (int) Math.min(left, piece.length));
        }
        if (writer.getInputStream().read() < 0) {
          throw new IOException("the reading thread has ended");
        }
        nanos[Math.max(round, 0)] = System.nanoTime() - begin;
      }
    }
    return byteSize / CopyBench.median(nanos);
  }

  /** Answers every {@code byteSize} bytes with one, until the writer ends. */
  private static void acknowledge(ServerSocket listener, long byteSize) {
    try (var reader = listener.accept()) {
      reader.setSoTimeout((int) LONGEST.toMillis());
      var piece = new byte[PIECE_BYTES];
      while (true) {
        for (long left = byteSize; left > 0; ) {
          int count = reader.getInputStream().read(piece, 0, (int) Math.min(left, piece.length));
          if (count < 0) {
            return;
          }
          left -= count;
        }
        reader.getOutputStream().write(1);
      }
    } catch (IOException lost) {
      System.getLogger(RegionBench.class.getName())
          .log(System.Logger.Level.DEBUG, "plain sockets have ended", lost);
    }
  }

  /** Returns an address in one word, for the command line. */
  static String word(RegionAddress address) {
    return SCHEME
        + Base64.getUrlEncoder().withoutPadding().encodeToString(Json.write(address.toMembers()));
  }

  /**
   * Reads the address from a word written by {@link #word}.
   *
   * @throws IllegalArgumentException when it is no such word
   */
  static RegionAddress address(String word) {
    if (!word.startsWith(SCHEME)) {
      throw new IllegalArgumentException("an address begins with " + SCHEME);
    }
    var text = word.substring(SCHEME.length()).getBytes(StandardCharsets.UTF_8);
    JsonObject members = Json.readObject(Base64.getUrlDecoder().decode(text));
    var address = RegionAddress.of(members);
    if (address.byteSize() > MAX_BYTES) {
      throw new IllegalArgumentException(
          "a region of %d bytes exceeds %d".formatted(address.byteSize(), MAX_BYTES));
    }
    return address;
  }

  @Override
  public void close() {
    sharing.close();
    loops.close();
  }
}
