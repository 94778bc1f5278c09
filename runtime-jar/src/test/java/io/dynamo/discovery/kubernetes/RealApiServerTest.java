package io.dynamo.discovery.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryContract;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryEvent.Added;
import io.dynamo.discovery.DiscoveryEvent.Lost;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.testing.Recorder;
import io.dynamo.testing.TestSettings;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The contract of discovery before Kubernetes' own API server, which {@code .ci/kubernetes} builds
 * and starts: what the simulated one of the other test claims of resource versions, watches and
 * server-side apply.
 */
@EnabledIfSystemProperty(named = "dynamo.test.kubernetes", matches = "https.*")
class RealApiServerTest extends DiscoveryContract {
  private static final String URL = System.getProperty("dynamo.test.kubernetes", "");
  private static final Path FOLDER =
      Path.of(System.getProperty("dynamo.test.kubernetes.folder", ""));
  private static final Path AUTHORITIES = FOLDER.resolve("certs/apiserver.crt");
  private static final Path TOKEN = FOLDER.resolve("token");
  private static KubernetesClient client;

  private final List<Discovery> opened = new ArrayList<>();

  @BeforeAll
  static void connect() throws IOException {
    client =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder()
                    .withMasterUrl(URL)
                    .withCaCertFile(AUTHORITIES.toString())
                    .withOauthToken(Files.readString(TOKEN).strip())
                    .withNamespace(ApiServer.NAMESPACE)
                    .build())
            .build();
  }

  @AfterAll
  static void disconnect() {
    client.close();
  }

  private static void setPodReady(String pod, boolean ready) {
    client
        .discovery()
        .v1()
        .endpointSlices()
        .inNamespace(ApiServer.NAMESPACE)
        .resource(
            new EndpointSliceBuilder()
                .withNewMetadata()
                .withName("service-" + pod)
                .addToLabels("nvidia.com/dynamo-discovery-enabled", "true")
                .endMetadata()
                .withAddressType("IPv4")
                .withEndpoints(
                    new EndpointBuilder()
                        .withAddresses("10.0.0.7")
                        .withNewConditions()
                        .withReady(ready)
                        .endConditions()
                        .withNewTargetRef()
                        .withKind("Pod")
                        .withName(pod)
                        .endTargetRef()
                        .build())
                .build())
        .fieldManager("test")
        .forceConflicts()
        .serverSideApply();
  }

  @AfterEach
  void closeOpened() {
    opened.forEach(Discovery::close);
  }

  private Discovery open(String pod) {
    var discovery =
        KubernetesDiscovery.open(
            TestSettings.with(
                    Map.of(
                        "dynamo.discovery.kubernetes.api-server", URL,
                        "dynamo.discovery.kubernetes.token-file", TOKEN.toString(),
                        "dynamo.discovery.kubernetes.authorities", AUTHORITIES.toString()))
                .discovery()
                .kubernetes(),
            new PodIdentity(pod, "uid-of-" + pod, ApiServer.NAMESPACE, null));
    opened.add(discovery);
    return discovery;
  }

  @Override
  protected long largeId() {
    return ObjectId.MAX;
  }

  @Override
  protected Discovery join(InstanceId id) {
    var pod = "pod-" + Long.toHexString(id.value());
    setPodReady(pod, true);
    return open(pod);
  }

  @Override
  @Test
  protected void twoThousandInstancesAreAllHeard() throws InterruptedException {
    var heard = new Recorder<DiscoveryEvent<Instance>>();
    join(new InstanceId(1)).watch(Instance.class, heard);
    var registered = new ArrayList<DiscoveryEvent<Instance>>();
    for (int pod = 2; pod < 12; pod++) {
      var worker = join(new InstanceId(pod));
      for (int i = 0; i < 20; i++) {
        worker.register(instance(pod * 100L + i));
        registered.add(new Added<>(instance(pod * 100L + i)));
      }
    }
    assertThat(heard.next(registered.size())).containsExactlyInAnyOrderElementsOf(registered);
  }

  @Test
  void recordsAreSeenWhileTheirPodIsReady() throws InterruptedException {
    var heard = new Recorder<DiscoveryEvent<Instance>>();
    try (var frontend = join(new InstanceId(1));
        var worker = open("worker-0")) {
      frontend.watch(Instance.class, heard);
      worker.register(instance(7));
      setPodReady("worker-0", true);
      assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));
      setPodReady("worker-0", false);
      assertThat(heard.next()).isEqualTo(new Lost<>(instance(7)));
    }
  }
}
