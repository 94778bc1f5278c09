package io.dynamo.discovery.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryEvent.Added;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.event.Until;
import io.dynamo.net.PayloadFormat;
import io.dynamo.testing.Certificates;
import io.dynamo.testing.EtcdProcess;
import io.dynamo.testing.Recorder;
import io.dynamo.testing.TestSettings;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Discovery in an etcd that demands certificates or a password. */
class EtcdSecurityTest {
  private static final String PREFIX = "dynamo.discovery.etcd.";

  @TempDir private Path folder;

  private static EtcdDiscovery join(EtcdProcess etcd, long id, Map<String, String> more) {
    var values =
        new HashMap<>(
            Map.of(
                PREFIX + "endpoints", etcd.endpoint(),
                PREFIX + "lease-ttl", "15s",
                PREFIX + "start-timeout", "20s"));
    values.putAll(more);
    return EtcdDiscovery.open(
        TestSettings.with(values).discovery().etcd(),
        new InstanceId(id),
        Runnable::run,
        new Random(id));
  }

  /** These settings, and a start that does not wait long for etcd to think better of them. */
  private static Map<String, String> refused(Map<String, String> settings) {
    var all = new HashMap<>(settings);
    all.put(PREFIX + "start-timeout", "1s");
    return all;
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
  void mutualTlsIsSpokenAndDemanded() throws Exception {
    var certificates = new Certificates(folder, "authority");
    certificates.sign("etcd", "ip:127.0.0.1");
    var certificate = certificates.certificateFile("etcd").toString();
    var key = certificates.keyFile("etcd").toString();
    var authority = certificates.authorityFile().toString();
    try (var etcd =
        EtcdProcess.start(
            folder,
            "https",
            "--cert-file=" + certificate,
            "--key-file=" + key,
            "--trusted-ca-file=" + authority,
            "--client-cert-auth")) {
      var whole =
          Map.of(
              PREFIX + "tls.authorities", Files.readString(Path.of(authority)),
              PREFIX + "tls.certificate", certificate,
              PREFIX + "tls.key", key);
      var heard = new Recorder<DiscoveryEvent<Instance>>();
      try (var worker = join(etcd, 7, whole);
          var frontend = join(etcd, 8, whole)) {
        frontend.watch(Instance.class, heard);
        worker.register(instance(7));
        assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));
      }

      assertThatThrownBy(
              () -> join(etcd, 9, refused(Map.of(PREFIX + "tls.authorities", authority))))
          .as("without a certificate")
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(
              () ->
                  join(
                      etcd,
                      9,
                      refused(
                          Map.of(
                              PREFIX + "tls.certificate", certificate, PREFIX + "tls.key", key))))
          .as("without the authority")
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aPasswordIsSentAgainAfterARestart() throws Exception {
    try (var etcd = EtcdProcess.start(folder)) {
      etcd.demandPassword("dynamo", "secret");
      var user = Map.of(PREFIX + "user", "dynamo", PREFIX + "password", "secret");
      var heard = new Recorder<DiscoveryEvent<Instance>>();
      try (var worker = join(etcd, 7, user);
          var frontend = join(etcd, 8, user)) {
        frontend.watch(Instance.class, heard);
        worker.register(instance(7));
        assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));

        etcd.kill();
        etcd.startAgain();
        registerSoon(worker, instance(9));

        assertThat(heard.next()).isEqualTo(new Added<>(instance(9)));
      }

      assertThatThrownBy(
              () ->
                  join(
                      etcd,
                      9,
                      refused(Map.of(PREFIX + "user", "dynamo", PREFIX + "password", "wrong"))))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> join(etcd, 9, refused(Map.of())).register(instance(9)))
          .isInstanceOf(RuntimeException.class);
    }
  }

  private static void registerSoon(EtcdDiscovery worker, Instance instance) {
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
}
