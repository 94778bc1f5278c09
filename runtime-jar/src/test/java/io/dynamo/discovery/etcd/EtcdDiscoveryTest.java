package io.dynamo.discovery.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.plane.EtcdSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryContract;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryEvent.Added;
import io.dynamo.discovery.DiscoveryEvent.Lost;
import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.json.Json;
import io.dynamo.testing.EtcdProcess;
import io.dynamo.testing.Recorder;
import io.dynamo.testing.TestSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EtcdDiscoveryTest extends DiscoveryContract {
  /** Longer than a busy machine lets a renewal wait; a lost lease is noticed in a third of it. */
  private static final String LEASE = "9s";

  private static final String SEVEN = "v1/instances/dynamo/backend/generate/7";

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
    return TestSettings.with(
            Map.of(
                "dynamo.discovery.etcd.endpoints",
                etcd.endpoint(),
                "dynamo.discovery.etcd.lease-ttl",
                LEASE))
        .discovery()
        .etcd();
  }

  @Override
  protected Discovery join(InstanceId id) {
    var lease = new InstanceId(id.value() & Long.MAX_VALUE); // one of its records may be negative
    return EtcdDiscovery.open(settings(), lease, Runnable::run, new Random(1));
  }

  @Test
  void keysAndValuesAreThoseThatDynamoWrites() throws IOException {
    var captured = new TreeMap<String, Object>();
    try (var worker = join(new InstanceId(0x7e3ea1fb51661d08L))) {
      for (var value : capturedValues()) {
        var record = DiscoveryJson.decode(value);
        captured.put(record.bucket() + "/" + record.key(), Json.readObject(value));
        worker.register(record);
      }
      assertThat(captured.keySet()).containsExactlyInAnyOrderElementsOf(capturedKeys());

      var stored = etcd.keys("v1/");

      assertThat(stored.keySet()).isEqualTo(captured.keySet());
      stored.forEach(
          (key, found) -> {
            assertThat(Json.readObject(found.value())).as(key).isEqualTo(captured.get(key));
            assertThat(found.lease()).as(key).isEqualTo(0x7e3ea1fb51661d08L);
          });
    }
    assertThat(etcd.keys("v1/")).as("the lease was ended").isEmpty();
  }

  private static List<String> capturedKeys() {
    var list = new String(resource("keys.json"), StandardCharsets.UTF_8);
    var json = "{\"keys\":" + list + "}";
    return Json.readObject(json.getBytes(StandardCharsets.UTF_8)).optionalObjects("keys").stream()
        .map(key -> key.text("key"))
        .toList();
  }

  private static Iterable<byte[]> capturedValues() {
    return IntStream.rangeClosed(1, 11)
        .mapToObj(
            number ->
                Objects.requireNonNull(
                    folderOfCaptures()
                        .toFile()
                        .list((_, name) -> name.startsWith("%02d-".formatted(number))))[0])
        .map(EtcdDiscoveryTest::resource)
        .toList();
  }

  private static Path folderOfCaptures() {
    return Path.of("src/test/resources/golden/discovery-etcd");
  }

  private static byte[] resource(String name) {
    try {
      return Files.readAllBytes(folderOfCaptures().resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void recordsUnderALostLeaseAreWrittenAgain() throws InterruptedException {
    try (var worker = join(new InstanceId(7));
        var frontend = join(new InstanceId(8))) {
      var heard = new Recorder<DiscoveryEvent<Instance>>();
      worker.register(instance(7));
      frontend.watch(Instance.class, heard);
      assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));

      etcd.revoke(7);

      assertThat(heard.next()).isEqualTo(new Lost<>(instance(7)));
      assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));
      assertThat(etcd.keys(SEVEN).values()).singleElement().extracting("lease").isEqualTo(7L);
    }
  }

  @Test
  void registrationUnderALostLeaseRenewsTheLease() {
    try (var worker = join(new InstanceId(7))) {
      worker.register(instance(7));
      etcd.revoke(7);

      worker.register(instance(8));

      assertThat(etcd.keys("v1/instances/")).hasSize(2);
    }
  }

  @Test
  void aDeletedRecordOfALiveProcessIsWrittenAgain() throws InterruptedException {
    try (var worker = join(new InstanceId(7))) {
      var heard = new Recorder<DiscoveryEvent<Instance>>();
      worker.watch(Instance.class, heard);
      worker.register(instance(7));
      assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));

      etcd.delete(SEVEN);

      assertThat(heard.next()).isEqualTo(new Lost<>(instance(7)));
      assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));
    }
  }

  @Test
  void foreignKeysAndBadValuesAreSkipped() throws InterruptedException {
    etcd.put("v1/instances/dynamo/backend/generate/9", "no record");
    etcd.put("v1/instances/dynamo/backend/generate/a", text(instance(11)));
    etcd.put("v1/locks/writer", "writing");
    try (var frontend = join(new InstanceId(8))) {
      var heard = new Recorder<DiscoveryEvent<Instance>>();
      frontend.watch(Instance.class, heard);
      etcd.put(SEVEN, text(instance(7)));

      assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));
      assertThat(heard.rest()).isEmpty();
    } finally {
      etcd.keys("v1/").keySet().forEach(etcd::delete);
    }
  }

  private static String text(Instance instance) {
    return new String(DiscoveryJson.encode(instance), StandardCharsets.UTF_8);
  }

  @Test
  void deadMemberOfTheClusterIsPassedOver() throws InterruptedException {
    var settings =
        TestSettings.with(
                Map.of(
                    "dynamo.discovery.etcd.endpoints",
                    "http://127.0.0.1:1," + etcd.endpoint(),
                    "dynamo.discovery.etcd.lease-ttl",
                    LEASE))
            .discovery()
            .etcd();
    try (var worker =
        EtcdDiscovery.open(settings, new InstanceId(7), Runnable::run, new Random(1))) {
      var heard = new Recorder<DiscoveryEvent<Instance>>();
      worker.watch(Instance.class, heard);
      worker.register(instance(7));

      assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));
    }
  }

  @Test
  void aStartWithoutEtcdSaysWhatToDo() {
    var absent =
        TestSettings.with(
                Map.of(
                    "dynamo.discovery.etcd.endpoints", "http://127.0.0.1:1",
                    "dynamo.discovery.etcd.start-timeout", "300ms"))
            .discovery()
            .etcd();

    assertThatThrownBy(
            () -> EtcdDiscovery.open(absent, new InstanceId(7), Runnable::run, new Random(1)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("did not answer within PT0.3S")
        .hasMessageContaining("dynamo.discovery.etcd.endpoints");
  }
}
