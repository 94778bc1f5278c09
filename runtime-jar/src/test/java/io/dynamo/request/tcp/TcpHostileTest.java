package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.sun.management.UnixOperatingSystemMXBean;
import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.inference.EngineOutput;
import io.dynamo.metrics.TransportMetrics;
import io.dynamo.request.EndpointServer;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Peers that mean no good, at the worker's door and at the requester's. Whatever they do, a good
 * peer is served meanwhile and after, and no memory and no descriptor stays behind.
 */
class TcpHostileTest {
  /** Which listener is attacked. */
  enum Door {
    WORKER,
    CALL_HOME
  }

  private static final long MEMORY_MARGIN = 4 << 20; // chunks that the allocator keeps for reuse

  private TestPlane plane = new TestPlane();
  private EndpointServer.Served served;

  @BeforeEach
  void serve() {
    served =
        plane.serve(
            (request, context) -> {
              var answer = new ItemStream<EngineOutput>(8, () -> {}, () -> {});
              answer.offer(EngineOutput.ofTokens(1));
              answer.complete();
              return answer;
            });
  }

  @AfterEach
  void closePlane() {
    plane.close();
  }

  private void restart(TestPlane with) {
    plane.close();
    plane = with;
    serve();
  }

  private RawPeer dial(Door door) throws IOException {
    return RawPeer.dial(address(door));
  }

  private String address(Door door) {
    return switch (door) {
      case WORKER -> TestPlane.tcpAddress(served);
      case CALL_HOME -> plane.client.callHomeAddress;
    };
  }

  /** The bytes that a good peer would send, to nobody who waits for them. */
  private static byte[] sensible(Door door) {
    return switch (door) {
      case WORKER -> Captured.CHAT;
      case CALL_HOME -> Captured.answer("chat-stream.w2f.bin", UUID.randomUUID().toString());
    };
  }

  private void assertServes() throws InterruptedException {
    for (int i = 0; i < 3; i++) {
      assertThat(Collector.all(plane.call(served)).awaitCompletion()).hasSize(1);
    }
  }

  private interface Attack {
    void on(RawPeer peer) throws IOException;
  }

  /** The listener may end the connection at any point of an attack. */
  private void attack(Door door, Attack attack) throws IOException {
    try (var peer = dial(door)) {
      attack.on(peer);
    } catch (IOException cutOff) {
      assertThat(cutOff.getMessage()).containsAnyOf("reset", "Broken pipe", "closed");
    }
  }

  private void noise(Door door, long seed) throws IOException {
    var random = new Random(seed);
    var bytes = new byte[1 + random.nextInt(100_000)];
    random.nextBytes(bytes);
    attack(door, peer -> peer.write(bytes));
  }

  private void lengths(Door door) throws IOException {
    for (long first : new long[] {-1, Long.MAX_VALUE, 1L << 32, 0x0028_0000_0000_0000L}) {
      for (long second : new long[] {-1, Long.MIN_VALUE, 1 << 30}) {
        var bytes = ByteBuffer.allocate(24).putLong(first).putLong(second).putLong(-1).array();
        attack(door, peer -> peer.write(bytes));
      }
    }
  }

  private void cuts(Door door) throws IOException {
    var whole = sensible(door);
    for (int cut = 0; cut < whole.length; cut += 41) {
      var part = Arrays.copyOf(whole, cut);
      boolean reset = cut % 2 == 0;
      attack(
          door,
          peer -> {
            peer.write(part);
            if (reset) {
              peer.reset();
            } else {
              peer.finish();
            }
          });
    }
  }

  /** Peers that say nothing, or a byte at a time, while a good one is served. */
  private void idlers(Door door) throws Exception {
    List<RawPeer> idle = new ArrayList<>();
    try {
      for (int i = 0; i < 50; i++) {
        idle.add(dial(door));
      }
      var whole = sensible(door);
      for (int at = 0; at < 20; at++) {
        for (var peer : idle.subList(0, 25)) {
          peer.write(new byte[] {whole[at]});
        }
      }
      assertServes();
    } finally {
      for (var peer : idle) {
        peer.close();
      }
    }
  }

  private void round(Door door) throws Exception {
    for (long seed = 1; seed <= 20; seed++) {
      noise(door, seed);
    }
    lengths(door);
    cuts(door);
    idlers(door);
    assertServes();
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
    serve();
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void hostilePeersLeaveNothingBehind(Door door) throws Exception {
    round(door);
    long files = openFiles();
    long memory = directBytes();
    round(door);
    awaitFiles(files);
    assertThat(directBytes()).isLessThanOrEqualTo(memory + MEMORY_MARGIN);
    plane.awaitNothingLeft();
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void thousandsOfSilentConnectionsDoNotKeepAGoodPeerOut(Door door) throws Exception {
    int count = 10_000;
    assumeThat(descriptorsLeft())
        .as("descriptors, one per connection here and one in the other process")
        .isGreaterThan(count + 500);
    restart(new TestPlane(TestPlane.bounded(1 << 20, 2 * count)));
    assertServes();
    long files = openFiles();
    try (var _ = SilentCrowd.of(SocketAddresses.parse(address(door)), count)) {
      awaitAtLeast(() -> openFilesNow() - files, count);
      assertServes();
    }
    awaitFiles(files);
    assertServes();
  }

  private interface Check {
    void run() throws Exception;
  }

  private void crowd(Door door, int count, Check meanwhile) throws Exception {
    List<RawPeer> crowd = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        crowd.add(dial(door));
      }
      meanwhile.run();
    } finally {
      for (var peer : crowd) {
        peer.close();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void connectionsBeyondTheLimitAreClosedAtOnceAndCounted(Door door) throws Exception {
    assertServes(); // every file that this needs is open
    crowd(door, 1, () -> {});
    restart(new TestPlane(TestPlane.bounded(1 << 20, 40)));
    var refused = plane.metrics.counter(TransportMetrics.CONNECTIONS_REFUSED);
    long files = openFiles();
    crowd(
        door,
        60,
        () -> {
          awaitAtLeast(refused::value, 20);
          try (var late = dial(door)) {
            late.awaitGone();
          }
        });
    awaitFiles(files);
    assertServes();
    assertThat(refused.value()).isEqualTo(21);
  }

  private static void awaitAtLeast(LongSupplier value, long wanted) {
    long patience = System.nanoTime() + TestPlane.PATIENCE.toNanos();
    while (value.getAsLong() < wanted) {
      assertThat(System.nanoTime() - patience).as("%d", value.getAsLong()).isNegative();
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Without both ends of the pool's connections, which stay on purpose. */
  private long openFiles() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count() - 2L * plane.client.connections();
    }
  }

  private long openFilesNow() {
    try {
      return openFiles();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sockets close a moment after their peers. */
  private void awaitFiles(long atMost) throws IOException {
    long patience = System.nanoTime() + TestPlane.PATIENCE.toNanos();
    while (openFiles() > atMost) {
      assertThat(System.nanoTime() - patience)
          .as("%d open files, were %d", openFiles(), atMost)
          .isNegative();
      LockSupport.parkNanos(10_000_000);
    }
  }

  private static long directBytes() {
    return ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT).metric().usedDirectMemory();
  }

  private long descriptorsLeft() throws IOException {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount() - openFiles()
        : 0;
  }
}
