package io.dynamo.transfer.jni;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

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
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import io.dynamo.transfer.jni.SharedMemoryExchange.Patience;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests writes by shared memory between two processes, one of which dies or stands still. */
@Timeout(120)
class SharedMemoryProcessTest {
  private static final int SIZE = SharedMemoryPeer.SIZE;

  private final long heldBefore = NativeTransfer.heldBytes();
  private final EventLoops loops = new EventLoops(1);
  private final NativeHostMemory memory = new NativeHostMemory();
  private final Metrics metrics = new Metrics();
  private final SharedMemoryExchange exchange = exchange(SharedMemoryPeer.PATIENT);
  private final Region region = memory.allocateShared(SIZE);
  private final PeerProcess peer = new PeerProcess(SharedMemoryPeer.class);

  SharedMemoryProcessTest() throws IOException {}

  private SharedMemoryExchange exchange(Patience patience) {
    return SharedMemoryPeer.exchange(
        memory, loops, metrics, Thread.ofPlatform().daemon().factory(), patience);
  }

  @AfterEach
  void close() throws Exception {
    peer.kill();
    exchange.close();
    loops.close();
    memory.close();
    var until = soon(); // regions of earlier tests may end late, never more of them begin
    while (NativeTransfer.heldBytes() > heldBefore) {
      assertThat(until.isExpired()).as("bytes are still held").isFalse();
      Thread.onSpinWait();
    }
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(20));
  }

  private static String json(RegionAddress address) {
    return new String(Json.write(address.toMembers()), StandardCharsets.UTF_8);
  }

  private long written(String path) {
    return metrics.counter(TransferMetrics.WRITTEN_BYTES, new Label("path", path)).value();
  }

  @Test
  void theOtherProcessHasTheBytesAndNoneWentByTcp() throws Exception {
    var bytes = SharedMemoryPeer.filled(SIZE, (byte) 5);
    region.write(0, ByteBuffer.wrap(bytes));
    assertThat(exchange.write(region, SIZE, peer.lend(), soon()).await(soon())).isEqualTo(SIZE);
    var crc = new CRC32C();
    crc.update(bytes);
    assertThat(peer.answer("crc")).isEqualTo(String.valueOf((int) crc.getValue()));
    Until.holds(() -> written("shm") == SIZE);
    assertThat(written("tcp")).isZero();
  }

  @Test
  void theOtherProcessWritesHere() throws Exception {
    var export = exchange.export(region, Duration.ofMinutes(1));
    assertThat(peer.answer("write " + json(export.address()))).isEqualTo(String.valueOf(SIZE));
    export.close();
    var bytes = ByteBuffer.allocate(SIZE);
    region.read(0, bytes);
    assertThat(bytes.array()).isEqualTo(SharedMemoryPeer.filled(SIZE, (byte) 7));
  }

  @Test
  void aBorrowerThatIsKilledKeepsNothing() throws Exception {
    var export = exchange.export(region, Duration.ofMinutes(1));
    assertThat(peer.answer("keep " + json(export.address()))).isEqualTo("kept");
    peer.kill();
    export.close();
    assertThat(region.crc32c(0, SIZE)).isNotZero(); // the region is of use
  }

  @Test
  void aBorrowerThatStandsStillCostsTheRegion() throws Exception {
    try (var impatient = exchange(Patience.STANDARD)) {
      var export = impatient.export(region, Duration.ofMinutes(1));
      assertThat(peer.answer("keep " + json(export.address()))).isEqualTo("kept");
      peer.stop();
      export.close();
      assertThatIllegalStateException().isThrownBy(() -> region.crc32c(0, SIZE));
    }
  }

  @Test
  void aLenderThatStandsStillFailsTheWriteByItsDeadlineOrByCancel() throws Exception {
    var to = peer.lend();
    peer.stop();
    var late = Deadline.after(Duration.ofMillis(50));
    var writing = exchange.write(region, SIZE, to, late);
    assertThatExceptionOfType(DeadlineExceededException.class)
        .isThrownBy(() -> writing.await(soon()));
    var given = exchange.write(region, SIZE, to, soon());
    given.cancel();
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
    var lost = exchange.write(region, SIZE, to, soon());
    peer.kill();
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(() -> lost.await(soon()))
        .satisfies(failure -> assertThat(failure.reason()).isEqualTo(Reason.PEER_LOST));
  }

  /** The port of this process, behind the lender of one that stands still or is killed. */
  @Test
  void regionsThatAreNotLentAreWrittenByTcp() throws Exception {
    var lost = requireNonNull(peer.lend().sharing());
    peer.stop();
    try (var target = memory.allocateShared(SIZE);
        var impatient = exchange(Patience.STANDARD);
        var export = exchange.export(target, Duration.ofMinutes(1))) {
      var to = export.address().sharedBy(lost);
      var bytes = SharedMemoryPeer.filled(SIZE, (byte) 5);
      region.write(0, ByteBuffer.wrap(bytes));
      assertThat(impatient.write(region, SIZE, to, soon()).await(soon())).isEqualTo(SIZE);
      var got = ByteBuffer.allocate(SIZE);
      target.read(0, got);
      assertThat(got.array()).isEqualTo(bytes);
      var waiting = impatient.write(region, SIZE, to, soon());
      peer.kill();
      assertThat(waiting.await(soon())).isEqualTo(SIZE);
    }
    Until.holds(() -> written("tcp") == 2L * SIZE);
    assertThat(written("shm")).isZero();
  }

  @Test
  void aBorrowerThatKeepsMemoryLetsGoAtTheEndOfTheLease() throws Exception {
    var export = exchange.export(region, Duration.ofMinutes(1));
    for (int i = 0; i < 2; i++) {
      assertThat(peer.answer("write " + json(export.address()))).isEqualTo(String.valueOf(SIZE));
    }
    export.close();
    var bytes = ByteBuffer.allocate(SIZE);
    region.read(0, bytes);
    assertThat(bytes.array()).isEqualTo(SharedMemoryPeer.filled(SIZE, (byte) 7));
    assertThat(peer.answer("held")).isEqualTo(String.valueOf(SIZE)); // its own region
  }

  @Test
  void aLenderThatIsKilledIsLost() throws Exception {
    var to = peer.lend();
    peer.kill();
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(() -> exchange.write(region, SIZE, to, soon()).await(soon()))
        .satisfies(failure -> assertThat(failure.reason()).isEqualTo(Reason.PEER_LOST));
    assertThat(written("shm")).isZero();
  }
}
