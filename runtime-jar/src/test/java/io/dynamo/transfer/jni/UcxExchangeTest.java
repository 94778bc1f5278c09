package io.dynamo.transfer.jni;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.plane.UcxMode;
import io.dynamo.config.plane.UcxSettings;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.event.Until;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransferMetrics;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.RegionAddress.Permission;
import io.dynamo.transfer.RegionAddress.UcxOffer;
import io.dynamo.transfer.RegionExchange.Range;
import io.dynamo.transfer.RegionExchangeContract;
import io.dynamo.transfer.TransferFailedException;
import io.dynamo.transfer.TransferFailedException.Reason;
import io.dynamo.transfer.jni.FakeUcx.Fault;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Writes by a library that takes UCX's place, and by the other ways where that fails. */
class UcxExchangeTest extends RegionExchangeContract {
  private final Metrics metrics = new Metrics();

  @Override
  protected NativeHostMemory newMemory() {
    return new NativeHostMemory();
  }

  @Override
  protected UcxExchange newExchange() {
    return exchange(FakeUcx.library());
  }

  private UcxExchange exchange(UcxLibrary library) {
    return UcxPath.exchange((NativeHostMemory) memory, loops, library, metrics);
  }

  private UcxExchange opening(UcxLibrary library) {
    return UcxPath.opening((NativeHostMemory) memory, loops, library, metrics);
  }

  @AfterEach
  void makeSound() {
    FakeUcx.set(Fault.NONE);
  }

  private long written(String path) {
    return metrics.counter(TransferMetrics.WRITTEN_BYTES, new Label("path", path)).value();
  }

  /** Waits for the counter, which follows the end of a transfer. */
  private void onlyBy(String way, long byteSize) {
    Until.holds(() -> written(way) == byteSize);
    assertThat(written("ucx") + written("shm") + written("tcp")).isEqualTo(byteSize);
  }

  /** Returns an address that no shared memory leads to, as that of another host. */
  private static RegionAddress remote(RegionAddress to) {
    return new RegionAddress(
        to.host(),
        to.port(),
        to.lease(),
        to.secret(),
        to.byteSize(),
        to.permission(),
        null,
        to.ucx());
  }

  @Test
  void theBytesTakeUcx() throws Exception {
    try (var export = owner.export(target, LEASE)) {
      for (int i = 0; i < 3; i++) {
        write(SIZE, export.address());
      }
    }
    onlyBy("ucx", 3L * SIZE);
  }

  private long bytesRead(String path) {
    return metrics.counter(TransferMetrics.READ_BYTES, new Label("path", path)).value();
  }

  /** A lease for reads has no offer of UCX, and one for writes is not read by it either. */
  @Test
  void readsTakeTheOtherWays() throws Exception {
    var lent = memory.allocateShared(SIZE);
    lent.write(0, ByteBuffer.wrap(data));
    var into = memory.allocate(SIZE);
    var whole = new Range(0, 0, SIZE);
    try (var export = owner.export(lent, Permission.READ, LEASE)) {
      assertThat(export.address().ucx()).isNull();
      writer.read(export.address(), whole, into, soon()).await(soon());
      assertThat(bytes(into)).isEqualTo(data);
      Until.holds(() -> bytesRead("shm") == SIZE);
      into.write(0, ByteBuffer.wrap(new byte[SIZE]));
      writer.read(remote(export.address()), whole, into, soon()).await(soon());
      assertThat(bytes(into)).isEqualTo(data);
      Until.holds(() -> bytesRead("tcp") == SIZE);
    }
    try (var export = owner.export(target, LEASE)) {
      assertThat(export.address().ucx()).isNotNull();
      var reading = writer.read(export.address(), whole, into, soon());
      assertThatExceptionOfType(TransferFailedException.class)
          .isThrownBy(() -> reading.await(soon()))
          .satisfies(denied -> assertThat(denied.reason()).isEqualTo(Reason.DENIED));
    }
    assertThat(written("ucx")).isZero();
  }

  @Test
  void memoryIsSharedBeforeUcxUnlessThatIsForced() throws Exception {
    try (var lending = exchange(FakeUcx.library(UcxMode.AUTO));
        var writing = exchange(FakeUcx.library(UcxMode.AUTO));
        var export = lending.export(target, LEASE)) {
      assertThat(export.address().ucx()).isNotNull();
      writing.write(source, SIZE, export.address(), soon()).await(soon());
      onlyBy("shm", SIZE);
      writing.write(source, SIZE, remote(export.address()), soon()).await(soon());
      Until.holds(() -> written("ucx") == SIZE);
      assertThat(written("tcp")).isZero();
    }
    assertThat(bytes(target)).isEqualTo(data);
  }

  @ParameterizedTest
  @EnumSource(names = {"REFUSED_ENDPOINT", "NO_REGISTRATION", "CORRUPT_READ"})
  void aFailureBeforeTheFirstByteTakesAnotherWay(Fault fault) throws Exception {
    try (var export = owner.export(target, LEASE)) {
      FakeUcx.set(fault);
      write(SIZE, remote(export.address()));
      onlyBy("tcp", SIZE);
      assertThat(bytes(target)).isEqualTo(data);
      FakeUcx.set(Fault.NONE);
      write(SIZE, remote(export.address()));
      Until.holds(() -> written("ucx") == SIZE);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"FAILED_PUT", "LOST_PEER"})
  void aFailureOnTheWayEndsTheWrite(Fault fault) throws Exception {
    try (var export = owner.export(target, LEASE)) {
      FakeUcx.set(fault);
      fails(Reason.PEER_LOST, export.address());
      assertThat(written("tcp")).isZero();
      FakeUcx.set(Fault.NONE);
      write(SIZE, export.address());
      assertThat(bytes(target)).isEqualTo(data);
    }
  }

  @Test
  void aStandstillEndsAtTheDeadlineOrByCancel() throws Exception {
    try (var export = owner.export(target, LEASE)) {
      FakeUcx.set(Fault.STOPPED_PUTS);
      var late =
          writer.write(source, SIZE, export.address(), Deadline.after(Duration.ofSeconds(1)));
      FakeUcx.awaitPut();
      assertThatExceptionOfType(DeadlineExceededException.class)
          .isThrownBy(() -> late.await(soon()));
      var given = writer.write(source, SIZE, export.address(), soon());
      FakeUcx.awaitPut();
      given.cancel();
      given.cancel();
      assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> given.await(soon()));
      FakeUcx.set(Fault.NONE);
      write(SIZE, export.address());
      assertThat(bytes(target)).isEqualTo(data);
    }
  }

  @Test
  void aPeerThatDoesNotAnswerTakesAnotherWay() throws Exception {
    try (var export = owner.export(target, LEASE)) {
      FakeUcx.set(Fault.STANDSTILL);
      write(SIZE, remote(export.address()));
      onlyBy("tcp", SIZE);
      assertThat(bytes(target)).isEqualTo(data);
      FakeUcx.set(Fault.NONE);
      write(SIZE, remote(export.address())); // the peer is remembered
      onlyBy("tcp", 2L * SIZE);
    }
  }

  @Test
  void aLibraryThatHangsDelaysOneExportAndItsLeaseEnds() throws Exception {
    long before = FakeUcx.live();
    FakeUcx.hang(2); // the writer's thread, too
    var longer = Duration.ofHours(1); // than the test waits
    try (var _ = owner.export(target, longer)) {
      long begin = System.nanoTime();
      try (var export = owner.export(target, LEASE)) {
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(4));
        assertThat(export.address().ucx()).isNull();
      }
    }
    FakeUcx.set(Fault.NONE);
    Until.holds(
        () -> {
          try (var export = owner.export(target, LEASE)) {
            return export.address().ucx() != null;
          }
        });
    Until.holds(() -> FakeUcx.live() == before);
  }

  @Test
  void aRegionIsGivenUpWhenItsLeaseEndsInATransportThatHangs() {
    var export = owner.export(target, LEASE);
    assertThat(export.address().ucx()).isNotNull();
    FakeUcx.hang(2);
    long begin = System.nanoTime();
    owner.close();
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(8));
    export.close();
    assertThatIllegalStateException().isThrownBy(() -> bytes(target));
  }

  @Test
  void bytesThatWereSentDoNotOutliveTheLease() throws Exception {
    var export = owner.export(target, LEASE);
    FakeUcx.set(Fault.STOPPED_PUTS);
    var writing = writer.write(source, SIZE, export.address(), soon());
    FakeUcx.awaitPut();
    export.close();
    var atTheEnd = bytes(target);
    FakeUcx.set(Fault.NONE);
    assertThatExceptionOfType(TransferFailedException.class)
        .isThrownBy(() -> writing.await(soon()))
        .satisfies(failure -> assertThat(failure.reason()).isEqualTo(Reason.PEER_LOST));
    assertThat(written("tcp")).isZero(); // it began by UCX
    assertThat(bytes(target)).isEqualTo(atTheEnd);
    fails(Reason.STALE, export.address());
    assertThat(bytes(target)).isEqualTo(atTheEnd);
  }

  @Test
  void anOfferThatWasChangedIsNotUsed() throws Exception {
    try (var export = owner.export(target, LEASE)) {
      var to = export.address();
      var offer = requireNonNull(to.ucx());
      var bytes = offer.bytes().clone();
      bytes[bytes.length - 1] ^= 1;
      write(SIZE, remote(to).reachedBy(new UcxOffer(bytes, offer.seal())));
    }
    onlyBy("tcp", SIZE);
  }

  @Test
  void aLibraryThatIsAbsentChangesNothing() throws Exception {
    var absent = new UcxLibrary(new UcxSettings(UcxMode.AUTO, Path.of("/nowhere/libucp.so.0")));
    assertThat(absent.probe()).contains("\"present\":false", "/nowhere/libucp.so.0");
    try (var lending = opening(absent);
        var export = lending.export(target, LEASE)) {
      assertThat(lending.awaitReady(Duration.ofSeconds(20))).isFalse();
      assertThat(export.address().ucx()).isNull();
      write(SIZE, remote(export.address()));
      onlyBy("tcp", SIZE);
    }
    try (var other = opening(absent);
        var export = owner.export(target, LEASE)) {
      source.write(0, ByteBuffer.wrap(new byte[] {1}));
      assertThat(other.write(source, SIZE, remote(export.address()), soon()).await(soon()))
          .isEqualTo(SIZE);
    }
    onlyBy("tcp", 2L * SIZE);
  }
}
