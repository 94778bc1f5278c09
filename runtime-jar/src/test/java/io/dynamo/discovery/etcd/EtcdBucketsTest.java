package io.dynamo.discovery.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.plane.EtcdSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.store.Bucket;
import io.dynamo.discovery.store.Bucket.Entry;
import io.dynamo.discovery.store.BucketName;
import io.dynamo.discovery.store.KeyValueStoreContract;
import io.dynamo.discovery.store.SharedLock;
import io.dynamo.testing.EtcdProcess;
import io.dynamo.testing.Recorder;
import io.dynamo.testing.TestSettings;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract of stores in a real etcd, and what etcd adds to it. */
class EtcdBucketsTest extends KeyValueStoreContract {
  private static final BucketName NAME = new BucketName("v1/other");
  private static final byte[] VALUE = "1".getBytes(UTF_8);

  @TempDir private static Path folder;
  private static EtcdProcess etcd;

  @BeforeAll
  static void startEtcd() {
    etcd = EtcdProcess.start(folder);
  }

  @AfterAll
  static void stopEtcd() {
    if (etcd != null) {
      etcd.close();
    }
  }

  private static EtcdSettings settings() {
    return TestSettings.with(Map.of("dynamo.discovery.etcd.endpoints", etcd.endpoint()))
        .discovery()
        .etcd();
  }

  @Override
  protected Discovery join(InstanceId id) {
    return open(id.value(), Runnable::run);
  }

  private static EtcdDiscovery open(long id, StoreGuard guard) {
    return EtcdDiscovery.open(settings(), new InstanceId(id), guard, new Random(1));
  }

  @Test
  void theKeysOfALockAreThoseOfDynamoUnderTheLeaseOfTheHolder() throws Exception {
    try (var holder = open(7, Runnable::run)) {
      var lock = new SharedLock(holder.store(), "router/snapshot");
      try (var _ = lock.read("r1", Duration.ofSeconds(20))) {
        assertThat(etcd.keys("v1/router/"))
            .hasEntrySatisfying(
                "v1/router/snapshot/readers/r1",
                key -> {
                  assertThat(key.value()).asString().startsWith("reading ");
                  assertThat(key.lease()).isEqualTo(7);
                });
      }
      etcd.put("v1/router/snapshot/readers/python", "reading");
      assertThat(lock.tryWrite()).isEmpty();
      etcd.delete("v1/router/snapshot/readers/python");
      try (var _ = lock.tryWrite().orElseThrow()) {
        assertThat(etcd.keys("v1/router/")).containsOnlyKeys("v1/router/snapshot/writer");
      }
      assertThat(etcd.keys("v1/router/")).isEmpty();
    }
  }

  @Test
  void aHolderIsToldThatItsLeaseTookTheLock() throws InterruptedException {
    try (var owner = open(7, Runnable::run)) {
      var held = new SharedLock(owner.store(), "locks/lease").tryWrite().orElseThrow();
      var lost = new CountDownLatch(1);
      var _ = held.whenLost(lost::countDown);

      etcd.revoke(7);

      assertThat(lost.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void keysUnderALostLeaseAreGoneAndWatchersHearIt() throws InterruptedException {
    try (var owner = open(7, Runnable::run);
        var other = open(8, Runnable::run)) {
      assertThat(owner.store().bucket(NAME).create("k", VALUE)).isPresent();
      var heard = new Recorder<Map<String, Entry>>();
      other.store().bucket(NAME).watch(heard);
      assertThat(heard.next()).containsOnlyKeys("k");

      etcd.revoke(7);

      assertThat(heard.next()).isEmpty();
      assertThatThrownBy(() -> owner.store().bucket(NAME).create("k", VALUE))
          .isInstanceOf(UncheckedIOException.class)
          .hasMessageContaining("v1/other/k is not written: the lease of this process was lost");
    }
  }

  /** A guard whose first call takes effect and is then repeated, as after a lost answer. */
  private static void twice(Runnable call) {
    call.run();
    call.run();
  }

  @Test
  void aWriteThatIsRepeatedAfterALostAnswerCountsOnce() {
    try (var owner = open(7, EtcdBucketsTest::twice)) {
      var bucket = owner.store().bucket(NAME);
      long first = bucket.create("k", VALUE).getAsLong();
      assertThat(bucket.get("k")).contains(new Entry(VALUE, first));
      long second = bucket.replace("k", "2".getBytes(UTF_8), first).getAsLong();
      assertThat(bucket.create("k", VALUE)).isEmpty();
      assertThat(bucket.delete("k", second)).isTrue();
    }
  }

  @Test
  void aStoreThatFailsIsReported() {
    var down = new AtomicBoolean();
    StoreGuard guard =
        call -> {
          if (down.get()) {
            throw new StoreUnavailableException("etcd is down", null);
          }
          call.run();
        };
    try (var owner = open(7, guard)) {
      Bucket bucket = owner.store().bucket(NAME);
      down.set(true);
      assertThatThrownBy(bucket::entries)
          .isInstanceOf(UncheckedIOException.class)
          .hasMessageContaining("v1/other/: etcd is down");
      down.set(false);
      assertThat(bucket.entries()).isEmpty();
    }
  }

  @Test
  void aWatchOutlivesACompaction() throws InterruptedException {
    try (var owner = open(7, Runnable::run)) {
      var bucket = owner.store().bucket(NAME);
      var heard = new Recorder<Map<String, Entry>>();
      bucket.watch(heard);
      assertThat(heard.next()).isEmpty();
      etcd.compact();
      assertThat(bucket.create("k", VALUE)).isPresent();
      assertThat(heard.next()).containsOnlyKeys("k");
    }
  }
}
