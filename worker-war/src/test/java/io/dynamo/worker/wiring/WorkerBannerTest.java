package io.dynamo.worker.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.Settings;
import io.dynamo.config.SettingsReader;
import io.dynamo.config.key.Lookup;
import io.dynamo.discovery.TransportAddress;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WorkerBannerTest {
  private static final WorkerBanner.ServedModel TINY =
      new WorkerBanner.ServedModel(
          "tiny", "vllm", 2, new TransportAddress.Tcp("10.0.0.7:9000", "1/ns/backend/generate"));

  private static Settings settings(Map<String, String> values) {
    var folders =
        Map.of(
            "java.io.tmpdir", "/tmp",
            "server.config.dir", "/srv/config",
            "server.output.dir", "/srv/output");
    return SettingsReader.read(
        name -> {
          var text = values.getOrDefault(name, folders.get(name));
          return text == null ? null : new Lookup.SettingText(text, "test");
        });
  }

  @Test
  void theConsoleNamesModelEngineRanksAddressDiscoveryAndPorts() {
    var settings =
        settings(
            Map.of(
                "dynamo.roles", "worker",
                "dynamo.http.port", "8001",
                "dynamo.discovery.backend", "etcd",
                "dynamo.discovery.etcd.endpoints", "http://etcd-1:2379,http://etcd-2:2379",
                "dynamo.event.plane", "zmq"));
    var status = new InetSocketAddress(InetAddress.getLoopbackAddress(), 9090);
    assertThat(WorkerBanner.text(settings, List.of(TINY), status).lines())
        .contains(
            "  \"tiny\": engine vllm, 2 ranks, requests at tcp://10.0.0.7:9000",
            "Discovery by etcd at http://etcd-1:2379, http://etcd-2:2379, events over zmq",
            "Health http://127.0.0.1:8001/health, metrics http://127.0.0.1:8001/metrics",
            "Status server http://127.0.0.1:9090: /health, /live, /metrics with Dynamo's names");
  }

  @Test
  void aWorkerOfSeveralPlanesShowsEachAddress() {
    var several =
        new TransportAddress.Several(
            List.of(
                new TransportAddress.Http2(true, "10.0.0.7:9443", "/ns/backend/generate"),
                new TransportAddress.Nats("ns_backend.generate-1")));
    assertThat(new WorkerBanner.ServedModel("tiny", "mock", 1, several))
        .hasToString(
            "\"tiny\": engine mock, 1 rank, requests at https://10.0.0.7:9443 and the NATS subject"
                + " ns_backend.generate-1");
  }

  @Test
  void aWorkerThatNoFrontendFindsIsToldWhatToSet() {
    var settings = settings(Map.of("dynamo.roles", "worker", "dynamo.discovery.backend", "memory"));
    assertThat(WorkerBanner.text(settings, List.of(TINY), null))
        .contains("set dynamo.discovery.backend")
        .doesNotContain("Status server");
  }
}
