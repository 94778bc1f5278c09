package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.event.Until;
import io.dynamo.json.Json;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransferMetrics;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.RegionExchange.Range;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests reads between two processes, one of which dies or stands still. */
@Timeout(120)
@ParameterizedClass
@ValueSource(strings = {"tcp", "shm"})
class RegionReadProcessTest {
  private static final int SIZE = SharedMemoryPeer.SIZE;
  private static final byte[] SEVENS = SharedMemoryPeer.filled(SIZE, (byte) 7);

  private final String path;
  private final EventLoops loops = new EventLoops(1);
  private final NativeHostMemory memory = new NativeHostMemory();
  private final Metrics metrics = new Metrics();
  private final SharedMemoryExchange exchange;
  private final Region region = memory.allocateShared(SIZE);
  private final PeerProcess peer = new PeerProcess(SharedMemoryPeer.class);

  RegionReadProcessTest(String path) throws IOException {
    this.path = path;
    this.exchange = SharedMemoryPeer.exchange(memory, loops, metrics);
  }

  @AfterEach
  void close() throws Exception {
    peer.kill();
    exchange.close();
    loops.close();
    memory.close();
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(20));
  }

  /** Returns an address that leads to its region by the tested path alone. */
  private RegionAddress byPath(RegionAddress address) {
    return path.equals("tcp")
        ? new RegionAddress(
            address.host(),
            address.port(),
            address.lease(),
            address.secret(),
            address.byteSize(),
            address.permission())
        : address;
  }

  private RegionAddress lendByPeer() throws InterruptedException {
    return byPath(SharedMemoryPeer.address(peer.answer("lend-to-read")));
  }

  private Transfer start(RegionAddress from) {
    return exchange.read(from, new Range(0, 0, SIZE), region, soon());
  }

  private byte[] bytes() {
    var all = ByteBuffer.allocate(SIZE);
    region.read(0, all);
    return all.array();
  }

  /** Reads until it fails; every read that completes has the bytes. */
  private Reason readUntilItFails(RegionAddress from) throws InterruptedException {
    var until = soon();
    try {
      while (!until.isExpired()) {
        start(from).await(soon());
        assertThat(bytes()).isEqualTo(SEVENS);
        region.write(0, ByteBuffer.wrap(new byte[SIZE]));
      }
    } catch (TransferFailedException failure) {
      return failure.reason();
    }
    throw new AssertionError("it goes on");
  }

  @Test
  void theBytesOfTheOtherProcessArrive() throws Exception {
    var from = lendByPeer();
    for (int i = 0; i < 2; i++) {
      assertThat(start(from).await(soon())).isEqualTo(SIZE);
      assertThat(bytes()).isEqualTo(SEVENS);
      region.write(0, ByteBuffer.wrap(new byte[SIZE]));
    }
    var read = metrics.counter(TransferMetrics.READ_BYTES, new Label("path", path));
    Until.holds(() -> read.value() == 2L * SIZE);
  }

  @Test
  void anOwnerThatIsKilledMeanwhileIsLost() throws Exception {
    var from = lendByPeer();
    assertThat(start(from).await(soon())).isEqualTo(SIZE);
    var killing =
        CompletableFuture.runAsync(
            () -> {
              try {
                peer.kill();
              } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
              }
            },
            CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS));
    assertThat(readUntilItFails(from)).isEqualTo(Reason.PEER_LOST);
    killing.get(20, TimeUnit.SECONDS);
  }

  @Test
  void anOwnerThatStandsStillEndsByDeadlineByCancelOrByItsDeath() throws Exception {
    var from = lendByPeer();
    peer.stop();
    var late = Deadline.after(Duration.ofMillis(50));
    var reading = exchange.read(from, new Range(0, 0, SIZE), region, late);
    assertThatExceptionOfType(DeadlineExceededException.class)
        .isThrownBy(() -> reading.await(soon()));
    var given = start(from);
    given.cancel();
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
    var lost = start(from);
    peer.kill();
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(() -> lost.await(soon()))
        .satisfies(failure -> assertThat(failure.reason()).isEqualTo(Reason.PEER_LOST));
    assertThat(bytes()).containsOnly(0);
  }

  private CompletableFuture<String> letPeerReadOn(RegionAddress from) {
    var json = new String(Json.write(byPath(from).toMembers()), StandardCharsets.UTF_8);
    var answer = new CompletableFuture<String>();
    var _ =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    answer.complete(peer.answer("read-on " + json));
                  } catch (InterruptedException | RuntimeException failure) {
                    answer.completeExceptionally(failure);
                  }
                });
    return answer;
  }

  /** The owner does not wait for it, and uses its region again: nobody reads those bytes. */
  @Test
  void aReaderThatStandsStillAtTheEndOfTheLeaseHasNoForeignBytes() throws Exception {
    for (int round = 0; round < 8; round++) {
      try (var source = memory.allocateShared(SIZE)) {
        source.write(0, ByteBuffer.wrap(SEVENS));
        var export = exchange.export(source, Permission.READ, Duration.ofMinutes(1));
        var answer = letPeerReadOn(export.address());
        TimeUnit.MILLISECONDS.sleep(30 + 3 * round); // it reads, and is stopped anywhere
        peer.stop();
        var begin = System.nanoTime();
        export.close();
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(5));
        source.write(0, ByteBuffer.wrap(new byte[SIZE]));
        assertThat(answer).isNotDone();
        peer.goOn();
        assertThat(answer.get(60, TimeUnit.SECONDS)).isEqualTo("STALE");
      }
    }
  }

  @Test
  void aReaderThatIsKilledKeepsNothing() throws Exception {
    try (var source = memory.allocateShared(SIZE)) {
      source.write(0, ByteBuffer.wrap(SEVENS));
      try (var first = exchange.export(source, Permission.READ, Duration.ofMinutes(1))) {
        start(byPath(first.address())).await(soon()); // opens what this process keeps
      }
      Until.holds(() -> NativeTransfer.heldBytes() == 2L * SIZE);
      long heldBefore = NativeTransfer.heldBytes();
      long descriptorsBefore = TransferPath.descriptors();
      var export = exchange.export(source, Permission.READ, Duration.ofMinutes(1));
      var _ = letPeerReadOn(export.address());
      Until.holds(() -> TransferPath.descriptors() > descriptorsBefore);
      peer.kill();
      assertThat(
              exchange
                  .read(byPath(export.address()), new Range(0, 0, SIZE), region, soon())
                  .await(soon()))
          .isEqualTo(SIZE);
      export.close();
      assertThat(bytes()).isEqualTo(SEVENS);
      Until.holds(() -> NativeTransfer.heldBytes() <= heldBefore);
      Until.holds(() -> TransferPath.descriptors() <= descriptorsBefore);
    }
  }
}
