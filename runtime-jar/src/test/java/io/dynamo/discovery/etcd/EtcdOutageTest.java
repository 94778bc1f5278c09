package io.dynamo.discovery.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryEvent.Added;
import io.dynamo.discovery.DiscoveryEvent.Lost;
import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.discovery.store.Bucket;
import io.dynamo.discovery.store.BucketName;
import io.dynamo.event.Until;
import io.dynamo.net.PayloadFormat;
import io.dynamo.testing.EtcdProcess;
import io.dynamo.testing.Recorder;
import io.dynamo.testing.TestSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Outages of etcd: dead, frozen, emptied. */
class EtcdOutageTest {
  /** Longer than an outage of these tests takes on a busy machine. */
  private static final String LEASE = "15s";

  @TempDir private Path folder;
  private EtcdProcess etcd;
  private EtcdDiscovery worker;
  private EtcdDiscovery frontend;
  private final Recorder<DiscoveryEvent<Instance>> heard = new Recorder<>();

  @BeforeEach
  void start() throws InterruptedException {
    etcd = EtcdProcess.start(folder);
    worker = join(7);
    frontend = join(8);
    worker.register(instance(7));
    frontend.watch(Instance.class, heard);
    assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));
  }

  @AfterEach
  void stop() {
    if (worker != null) {
      worker.close();
    }
    if (frontend != null) {
      frontend.close();
    }
    if (etcd != null) {
      etcd.close();
    }
  }

  private EtcdDiscovery join(long id) {
    var settings =
        TestSettings.with(
                Map.of(
                    "dynamo.discovery.etcd.endpoints",
                    etcd.endpoint(),
                    "dynamo.discovery.etcd.lease-ttl",
                    LEASE,
                    "dynamo.discovery.etcd.call-timeout",
                    "1s"))
            .discovery()
            .etcd();
    return EtcdDiscovery.open(settings, new InstanceId(id), Runnable::run, new Random(id));
  }

  private static Instance instance(long id) {
    var endpoint = new EndpointId("dynamo", "backend", "generate");
    return new Instance(
        endpoint,
        new InstanceId(id),
        new TransportAddress.Tcp("10.0.0.7:1", id + "/" + endpoint),
        null,
        PayloadFormat.MSGPACK);
  }

  @Test
  void knownRecordsStayWhileEtcdIsDeadAndNewOnesFollow() throws InterruptedException {
    etcd.kill();
    assertThatThrownBy(() -> worker.register(instance(9)))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("v1/instances/dynamo/backend/generate/9");
    etcd.startAgain();
    registerSoon(instance(10));

    assertThat(heard.next()).as("7 was never lost").isEqualTo(new Added<>(instance(10)));
    assertThat(etcd.keys("v1/instances/").keySet()).noneMatch(key -> key.endsWith("/9"));
  }

  /** Registers as owners do: again after a failure. */
  private void registerSoon(Instance instance) {
    Until.holds(
        () -> {
          try {
            worker.register(instance);
            return true;
          } catch (UncheckedIOException notYet) {
            return false;
          }
        });
  }

  @Test
  void changesDuringAnOutageAreHeardAfterIt() throws InterruptedException {
    etcd.kill();
    etcd.startAgain();
    var record = new String(DiscoveryJson.encode(instance(11)), StandardCharsets.UTF_8);
    etcd.put("v1/instances/dynamo/backend/generate/b", record);
    etcd.compact();

    assertThat(heard.next()).isEqualTo(new Added<>(instance(11)));
  }

  @Test
  void anEtcdThatComesBackEmptyLosesOnlyRecordsWithoutAnOwner()
      throws InterruptedException, IOException {
    var record = new String(DiscoveryJson.encode(instance(11)), StandardCharsets.UTF_8);
    etcd.put("v1/instances/dynamo/backend/generate/b", record);
    assertThat(heard.next()).isEqualTo(new Added<>(instance(11)));
    for (int i = 0; i < 20; i++) {
      etcd.put("v1/instances/dynamo/backend/generate/b", record); // raises the revision
    }
    etcd.kill();
    etcd.startEmpty();

    registerSoon(instance(10));

    assertThat(heard.next()).as("7 was never lost").isEqualTo(new Added<>(instance(10)));
    assertThat(heard.next()).isEqualTo(new Lost<>(instance(11)));
    assertThat(etcd.keys("v1/instances/")).hasSize(2);
  }

  @Test
  void watchesOfBucketsGoOnWhenEtcdComesBackEmpty() throws InterruptedException, IOException {
    var bucket = worker.store().bucket(new BucketName("v1/other"));
    bucket.create("before", new byte[] {1});
    var states = new Recorder<Map<String, Bucket.Entry>>();
    frontend.store().bucket(new BucketName("v1/other")).watch(states);
    assertThat(states.next()).containsOnlyKeys("before");
    for (int i = 0; i < 20; i++) {
      etcd.put("unrelated", "value"); // raises the revision
    }
    etcd.kill();
    etcd.startEmpty();
    assertThat(states.next()).isEmpty();

    Until.holds(
        () -> {
          try {
            bucket.create("after", new byte[] {2});
            return true;
          } catch (UncheckedIOException notYet) {
            return false;
          }
        });

    assertThat(states.next()).containsOnlyKeys("after");
  }

  @Test
  void aFrozenEtcdCostsNoRecord() throws InterruptedException {
    etcd.pause();
    assertThatThrownBy(() -> worker.register(instance(9))).isInstanceOf(UncheckedIOException.class);
    etcd.resume();
    registerSoon(instance(10));

    var event = heard.next();
    while (!event.equals(new Added<>(instance(10)))) {
      event = heard.next();
    }
    assertThat(etcd.keys("v1/instances/dynamo/backend/generate/7")).hasSize(1);
  }
}
