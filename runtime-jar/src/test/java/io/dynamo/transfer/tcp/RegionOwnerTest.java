package io.dynamo.transfer.tcp;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.TransferFailedException.Reason;
import io.dynamo.transfer.tcp.RegionFrame.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests how long the owner of a region lets a peer have its connection. */
class RegionOwnerTest {
  private static final Duration SILENCE = Duration.ofSeconds(10);

  private final AtomicLong clock = new AtomicLong();
  private final JavaHostMemory memory = new JavaHostMemory();
  private final Leases leases = new Leases(clock::get);
  private final Region region = memory.allocate(100);
  private final Leases.Lease lease = leases.lend(region, Permission.WRITE, Duration.ofMinutes(1));
  private final EmbeddedChannel peer =
      new EmbeddedChannel(new RegionOwner(leases, new AnswerBudget(0), SILENCE));

  @BeforeEach
  void stopTheClock() {
    peer.freezeTime();
  }

  @AfterEach
  void close() {
    peer.finishAndReleaseAll();
    memory.close();
  }

  private void pass(Duration time) {
    clock.addAndGet(time.toNanos());
    peer.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
    peer.runScheduledPendingTasks();
    peer.runPendingTasks();
  }

  private void greet() {
    var hello =
        RegionFrame.message(
            UnpooledByteBufAllocator.DEFAULT, Kind.HELLO, 1, lease.id(), new byte[32]);
    RegionOwnerFuzz.write(peer, RegionOwnerFuzz.bytes(hello));
  }

  private void write() {
    var message =
        RegionFrame.message(
            UnpooledByteBufAllocator.DEFAULT, Kind.WRITE, 0, lease.id(), new byte[8]);
    RegionOwnerFuzz.write(peer, RegionOwnerFuzz.bytes(message));
  }

  @Test
  void aHandshakeHasTheTimeOfASilence() {
    greet();
    pass(SILENCE);
    assertThat(peer.isOpen()).isFalse();
  }

  @Test
  void aWriterThatIsHeardStays() {
    RegionOwnerFuzz.prove(peer, lease);
    pass(SILENCE);
    write();
    pass(SILENCE);
    assertThat(peer.isOpen()).isTrue();
    pass(SILENCE);
    assertThat(peer.isOpen()).as("silent").isFalse();
  }

  @Test
  void aWriterOfAnEndedLeaseIsRefusedAndThenClosed() throws Exception {
    RegionOwnerFuzz.prove(peer, lease);
    lease.end();
    pass(SILENCE);
    ByteBuf answer = requireNonNull(peer.readOutbound());
    var refusal = RegionFrame.read(answer);
    answer.release();
    assertThat(refusal.kind()).isEqualTo(Kind.ERROR);
    assertThat(Reason.of(refusal.flags())).isEqualTo(Reason.STALE);
    write();
    pass(SILENCE);
    assertThat(peer.isOpen()).isFalse();
  }
}
