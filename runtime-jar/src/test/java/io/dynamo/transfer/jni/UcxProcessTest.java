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
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests writes by UCX itself, over TCP, between two processes, one of which dies, stands still or
 * ends its lease. Left out without the environment of peers.
 */
@Timeout(120)
class UcxProcessTest {
  private static final int SIZE = UcxPeer.SIZE;

  private final UcxLibrary library = LiveUcx.library();
  private final long heldBefore = NativeTransfer.heldBytes();
  private final EventLoops loops = new EventLoops(1);
  private final NativeHostMemory memory = new NativeHostMemory();
  private final Metrics metrics = new Metrics();
  private final UcxExchange exchange = UcxPath.exchange(memory, loops, library, metrics);
  private final Region region = memory.allocate(SIZE);
  private final PeerProcess peer = new PeerProcess(UcxPeer.class, NixlPeer.packages().toString());

  UcxProcessTest() throws IOException {}

  @AfterEach
  void close() throws Exception {
    peer.kill();
    exchange.close();
    loops.close();
    memory.close();
    Until.holds(() -> NativeTransfer.heldBytes() <= heldBefore);
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(30));
  }

  private Transfer write(RegionAddress to) {
    return exchange.write(region, SIZE, to, soon());
  }

  private byte[] fill(int value) {
    var bytes = SharedMemoryPeer.filled(SIZE, (byte) value);
    region.write(0, ByteBuffer.wrap(bytes));
    return bytes;
  }

  private long written(String path) {
    return metrics.counter(TransferMetrics.WRITTEN_BYTES, new Label("path", path)).value();
  }

  private void hasArrived(byte[] bytes) throws InterruptedException {
    var crc = new CRC32C();
    crc.update(bytes);
    assertThat(peer.answer("crc")).isEqualTo(String.valueOf((int) crc.getValue()));
  }

  private static void pass(int millis) {
    for (var until = Deadline.after(Duration.ofMillis(millis)); !until.isExpired(); ) {
      Thread.onSpinWait();
    }
  }

  private static void failsFor(Reason reason, Transfer transfer) {
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(() -> transfer.await(soon()))
        .satisfies(failure -> assertThat(failure.reason()).isEqualTo(reason));
  }

  /** A connection that breaks on the way has no other reason than that. */
  private static void endsWholeOr(Reason reason, Transfer transfer) throws InterruptedException {
    try {
      assertThat(transfer.await(soon())).isEqualTo(SIZE);
    } catch (TransferFailedException failure) {
      assertThat(failure.reason()).isIn(reason, Reason.PEER_LOST);
    }
  }

  @Test
  void theOtherProcessHasTheBytesAndAllWentByUcx() throws Exception {
    var to = peer.lend();
    for (int round = 1; round <= 3; round++) {
      var bytes = fill(round);
      assertThat(write(to).await(soon())).isEqualTo(SIZE);
      hasArrived(bytes);
    }
    Until.holds(() -> written("ucx") == 3L * SIZE);
    assertThat(written("tcp") + written("shm")).isZero();
  }

  @Test
  void theOtherProcessWritesHere() throws Exception {
    var export = exchange.export(region, Duration.ofMinutes(1));
    var json = new String(Json.write(export.address().toMembers()), StandardCharsets.UTF_8);
    assertThat(peer.answer("write " + json)).isEqualTo(String.valueOf(SIZE));
    export.close();
    var bytes = ByteBuffer.allocate(SIZE);
    region.read(0, bytes);
    assertThat(bytes.array()).isEqualTo(SharedMemoryPeer.filled(SIZE, (byte) 7));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 5, 20, 40}) // while it connects, and while bytes are on their way
  void anOwnerThatIsKilledIsLost(int millis) throws Exception {
    var to = peer.lend();
    fill(1);
    var writing = write(to);
    pass(millis);
    peer.kill();
    endsWholeOr(Reason.PEER_LOST, writing);
    failsFor(Reason.PEER_LOST, write(to));
  }

  @Test
  void anOwnerThatStandsStillFailsTheWriteByItsDeadlineOrByCancel() throws Exception {
    var to = peer.lend();
    fill(1);
    peer.stop();
    var given = write(to);
    given.cancel();
    var late = exchange.write(region, SIZE, to, Deadline.after(Duration.ofMillis(100)));
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
    assertThatExceptionOfType(DeadlineExceededException.class).isThrownBy(() -> late.await(soon()));
    var lost = write(to);
    peer.kill();
    failsFor(Reason.PEER_LOST, lost);
  }

  /** Bytes that are on their way then do not arrive later. */
  @ParameterizedTest
  @ValueSource(ints = {0, 10, 30})
  void theEndOfTheLeaseEndsTheWriteAndNothingArrivesAfterIt(int millis) throws Exception {
    var to = peer.lend();
    fill(1);
    assertThat(write(to).await(soon())).isEqualTo(SIZE);
    fill(2);
    var writing = write(to);
    pass(millis);
    var atTheEnd = peer.answer("end");
    endsWholeOr(Reason.STALE, writing);
    assertThat(peer.answer("crc")).isEqualTo(atTheEnd);
    failsFor(Reason.STALE, write(to));
    assertThat(peer.answer("crc")).isEqualTo(atTheEnd);
  }

  @Test
  void anOwnerThatGoesOnTakesTheNextWrite() throws Exception {
    var to = peer.lend();
    fill(1);
    peer.stop();
    var given = write(to);
    given.cancel();
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
    peer.goOn();
    var bytes = fill(2);
    assertThat(write(to).await(soon())).isEqualTo(SIZE);
    hasArrived(bytes);
  }
}
