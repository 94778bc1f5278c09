package io.dynamo.transfer.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.event.Until;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.RegionAddress.Permission;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that a lease is used by several threads at once, and by none after its end. */
@Timeout(60)
class LeasesTest {
  private final Semaphore inUse = new Semaphore(0);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final AtomicInteger reads = new AtomicInteger();
  private final Leases leases = new Leases(() -> 0);
  private final Leases.Lease lease =
      leases.lend(blocking(), Permission.READ, Duration.ofMinutes(1));

  /** Returns a region whose reads wait until the test lets them go on. */
  private Region blocking() {
    return (Region)
        Proxy.newProxyInstance(
            Region.class.getClassLoader(),
            new Class<?>[] {Region.class},
            (_, method, _) -> {
              assertThat(method.getName()).isEqualTo("read");
              inUse.release();
              goOn.await();
              return reads.incrementAndGet();
            });
  }

  private CompletableFuture<Boolean> read() {
    return CompletableFuture.supplyAsync(
        () -> lease.read(0, ByteBuffer.allocate(1)), task -> Thread.ofPlatform().start(task));
  }

  @Test
  void theEndWaitsForUsesAndNothingIsReadAfterIt() throws Exception {
    var first = read();
    var second = read();
    assertThat(inUse.tryAcquire(2, 20, TimeUnit.SECONDS)).as("both read at once").isTrue();
    assertThat(lease.isOver()).as("asks nobody who reads").isFalse();
    assertThat(leases.find(lease.id())).isSameAs(lease);
    var readsAtEnd = new AtomicInteger(-1);
    var ending =
        Thread.ofPlatform()
            .start(
                () -> {
                  lease.end();
                  readsAtEnd.set(reads.get());
                });
    Until.holds(() -> ending.getState() == Thread.State.WAITING);
    assertThat(readsAtEnd).hasValue(-1);
    goOn.countDown();
    ending.join();
    assertThat(readsAtEnd).hasValue(2);
    assertThat(first.join()).isTrue();
    assertThat(second.join()).isTrue();
    assertThat(lease.read(0, ByteBuffer.allocate(1))).isFalse();
    assertThat(reads).hasValue(2);
    assertThat(leases.find(lease.id())).isNull();
  }
}
