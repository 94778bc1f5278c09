package io.dynamo.discovery.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.config.plane.KubernetesSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryContract;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryEvent.Added;
import io.dynamo.discovery.DiscoveryEvent.Lost;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.testing.Recorder;
import io.dynamo.testing.TestSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract of discovery before a simulated API server, and what only Kubernetes does. */
class KubernetesDiscoveryTest extends DiscoveryContract {
  private static final String OBJECTS = "dynamoworkermetadatas";
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  @TempDir private Path folder;
  private ApiServer server;
  private final List<Discovery> opened = new ArrayList<>();

  @BeforeEach
  void startServer() throws IOException {
    server = ApiServer.start();
    Files.writeString(folder.resolve("token"), ApiServer.TOKEN + "\n");
  }

  @AfterEach
  void stopServer() {
    opened.forEach(Discovery::close);
    server.close();
  }

  private KubernetesSettings settings(Map<String, String> more) {
    var settings =
        new HashMap<>(
            Map.of(
                "dynamo.discovery.kubernetes.api-server",
                server.url(),
                "dynamo.discovery.kubernetes.token-file",
                folder.resolve("token").toString(),
                "dynamo.discovery.kubernetes.namespace",
                ApiServer.NAMESPACE,
                "dynamo.discovery.kubernetes.start-timeout",
                "60s"));
    settings.putAll(more);
    return TestSettings.with(settings).discovery().kubernetes();
  }

  private Discovery open(String pod) {
    var discovery =
        KubernetesDiscovery.open(
            settings(Map.of()), new PodIdentity(pod, "uid-of-" + pod, ApiServer.NAMESPACE, null));
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
    server.setPodReady(pod, true);
    return open(pod);
  }

  /** A pod has a few records, which are written as one object: fewer here than elsewhere. */
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

  private static void until(String what, BooleanSupplier holds) {
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (!holds.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as(what).isNegative();
      LockSupport.parkNanos(5_000_000);
    }
  }

  private Recorder<DiscoveryEvent<Instance>> watching(Discovery discovery) {
    var heard = new Recorder<DiscoveryEvent<Instance>>();
    discovery.watch(Instance.class, heard);
    return heard;
  }

  @Test
  void theIdIsThatOfThePodsName() {
    assertThat(open("worker-0").instanceId()).isEqualTo(new InstanceId(1186445869714687L));
  }

  @Test
  void theObjectBelongsToItsPodAndHoldsEveryKindOfRecord() {
    open("worker-0").register(instance(7));
    var object = Objects.requireNonNull(server.object(OBJECTS, "worker-0"));
    assertThat(object.path("apiVersion").asText()).isEqualTo("nvidia.com/v1alpha1");
    assertThat(object.path("kind").asText()).isEqualTo("DynamoWorkerMetadata");
    var owner = object.path("metadata").path("ownerReferences").path(0);
    assertThat(owner.path("uid").asText()).isEqualTo("uid-of-worker-0");
    assertThat(owner.path("kind").asText()).isEqualTo("Pod");
    assertThat(owner.path("controller").asBoolean()).isTrue();
    assertThat(owner.path("blockOwnerDeletion").asBoolean(true)).isFalse();
    var data = object.path("spec").path("data");
    assertThat(data.fieldNames())
        .toIterable()
        .containsExactlyInAnyOrder("endpoints", "model_cards", "event_channels", "event_sources");
    var endpoint = data.path("endpoints").path("dynamo/backend/generate/7");
    assertThat(endpoint.path("type").asText()).isEqualTo("Endpoint");
    assertThat(endpoint.path("instance_id").asLong()).isEqualTo(7);
  }

  @Test
  void metadataIsTheDataOfTheObject() throws IOException {
    var discovery = (KubernetesDiscovery) open("worker-0");
    discovery.register(instance(7));

    var object = Objects.requireNonNull(server.object(OBJECTS, "worker-0"));
    assertThat(new ObjectMapper().readTree(discovery.metadata()))
        .isEqualTo(object.path("spec").path("data"));
  }

  @Test
  void recordsAreSeenWhileTheirPodIsReady() throws InterruptedException {
    var heard = watching(join(new InstanceId(1)));
    var worker = open("worker-0");
    var own = watching(worker);
    worker.register(instance(7));
    assertThat(own.next()).as("a process sees itself").isEqualTo(new Added<>(instance(7)));

    server.setPodReady("worker-0", true);
    assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));
    server.setPodReady("worker-0", false);
    assertThat(heard.next()).isEqualTo(new Lost<>(instance(7)));
    server.setPodReady("worker-0", true);
    assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));
    server.delete(OBJECTS, "worker-0"); // with its pod, whose slice lags behind
    assertThat(heard.next()).isEqualTo(new Lost<>(instance(7)));
  }

  @Test
  void containersAreReadyOneByOne() throws InterruptedException {
    var settings =
        settings(
            Map.of(
                "dynamo.discovery.kubernetes.mode", "container",
                "dynamo.discovery.kubernetes.container", "engine"));
    var watcher =
        KubernetesDiscovery.open(
            settings, new PodIdentity("tiny-1", "uid-1", ApiServer.NAMESPACE, "main"));
    opened.add(watcher);
    var heard = watching(watcher);
    var worker =
        KubernetesDiscovery.open(
            settings, new PodIdentity("tiny-0", "uid-0", ApiServer.NAMESPACE, "engine"));
    opened.add(worker);
    assertThat(worker.instanceId()).isEqualTo(new InstanceId(3080579089989704L));
    worker.register(instance(7));
    server.setContainersReady("tiny-0", Map.of("main", true, "engine", false));
    assertThat(server.object(OBJECTS, "tiny-0-engine")).isNotNull();
    server.setContainersReady("tiny-0", Map.of("main", false, "engine", true));
    assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));
  }

  @Test
  void aWatchThatIsTooOldIsHealedByAnotherList() throws InterruptedException {
    var heard = watching(join(new InstanceId(1)));
    server.put(OBJECTS, "pod-8", data("dynamo/backend/generate/8", 8));
    server.setPodReady("pod-8", true);
    assertThat(heard.next()).isEqualTo(new Added<>(instance(8, "10.0.0.8:1")));
    int lists = server.listed();
    server.setRefusing(true);
    server.cutWatches();
    server.put(OBJECTS, "pod-9", data("dynamo/backend/generate/9", 9));
    server.setPodReady("pod-9", true);
    server.delete(OBJECTS, "pod-8");
    server.compact();
    server.setRefusing(false);
    assertThat(heard.next(2))
        .containsExactlyInAnyOrder(
            new Lost<>(instance(8, "10.0.0.8:1")), new Added<>(instance(9, "10.0.0.9:1")));
    assertThat(server.listed()).isGreaterThan(lists);
  }

  @Test
  void anObjectThatIsDeletedInAGapIsWrittenAgainByItsOwner() {
    join(new InstanceId(2)).register(instance(7));
    server.setRefusing(true);
    server.cutWatches();
    server.delete(OBJECTS, "pod-2");
    server.compact();
    server.setRefusing(false);
    until("it is there again", () -> server.object(OBJECTS, "pod-2") != null);
  }

  @Test
  void whileTheServerIsAwayWhatIsKnownStays() throws InterruptedException {
    var frontend = join(new InstanceId(1));
    var heard = watching(frontend);
    var worker = join(new InstanceId(2));
    worker.register(instance(7));
    assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));
    server.setRefusing(true);
    server.cutWatches();
    assertThatThrownBy(() -> worker.register(instance(8)))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessage("cannot write the record v1/instances/dynamo/backend/generate/8");
    assertThat(watching(frontend).next()).isEqualTo(new Added<>(instance(7)));
    server.setRefusing(false);
    worker.register(instance(8));
    assertThat(heard.next()).isEqualTo(new Added<>(instance(8)));
  }

  @Test
  void anObjectThatSomebodyChangesIsWrittenAgain() {
    var worker = join(new InstanceId(2));
    worker.register(instance(7));
    server.put(OBJECTS, "pod-2", data("dynamo/backend/generate/9", 9));
    until(
        "the object is its owner's again",
        () ->
            Objects.requireNonNull(server.object(OBJECTS, "pod-2"))
                .at("/spec/data/endpoints")
                .has("dynamo/backend/generate/7"));
    int applied = server.applied();
    server.put(OBJECTS, "pod-2", data("dynamo/backend/generate/10", 10));
    until(
        "the next change is answered, too",
        () ->
            Objects.requireNonNull(server.object(OBJECTS, "pod-2"))
                .at("/spec/data/endpoints")
                .has("dynamo/backend/generate/7"));
    assertThat(server.applied()).isGreaterThan(applied);
  }

  @Test
  void anObjectWhoseDataIsRemovedIsWrittenAgain() {
    join(new InstanceId(2)).register(instance(7));
    server.put(OBJECTS, "pod-2", Map.of("kind", "DynamoWorkerMetadata", "spec", Map.of()));
    until(
        "the object has its data again",
        () ->
            Objects.requireNonNull(server.object(OBJECTS, "pod-2"))
                .at("/spec/data/endpoints")
                .has("dynamo/backend/generate/7"));
  }

  @Test
  void anObjectThatCannotBeReadKeepsWhatItSaid() throws InterruptedException {
    var heard = watching(join(new InstanceId(1)));
    server.put(OBJECTS, "pod-9", data("dynamo/backend/generate/9", 9));
    server.setPodReady("pod-9", true);
    assertThat(heard.next()).isEqualTo(new Added<>(instance(9, "10.0.0.9:1")));
    server.put(OBJECTS, "pod-9", Map.of("kind", "DynamoWorkerMetadata", "spec", Map.of()));
    server.put(OBJECTS, "pod-8", data("dynamo/backend/generate/8", 8));
    server.setPodReady("pod-8", true);
    assertThat(heard.next())
        .as("the first stays")
        .isEqualTo(new Added<>(instance(8, "10.0.0.8:1")));
    server.put(OBJECTS, "pod-8", data("dynamo/backend/generate/88", 8)); // another's key
    assertThat(heard.next()).isEqualTo(new Lost<>(instance(8, "10.0.0.8:1")));
  }

  private static Map<String, ?> data(String key, long id) {
    return Map.of(
        "apiVersion",
        "nvidia.com/v1alpha1",
        "kind",
        "DynamoWorkerMetadata",
        "spec",
        Map.of(
            "data",
            Map.of(
                "endpoints",
                Map.of(
                    key,
                    Map.of(
                        "type", "Endpoint",
                        "namespace", "dynamo",
                        "component", "backend",
                        "endpoint", "generate",
                        "request_plane_codec", "msgpack",
                        "instance_id", id,
                        "transport",
                            Map.of(
                                "tcp",
                                "10.0.0.%d:1/%x/dynamo/backend/generate".formatted(id, id)))))));
  }

  @Test
  void recordsOfAnEarlierProcessAreDeletedAtStart() {
    server.put(OBJECTS, "worker-0", data("dynamo/backend/generate/9", 9));
    open("worker-0");
    assertThat(server.object(OBJECTS, "worker-0")).isNull();
  }

  @Test
  void aWrongTokenStopsTheStart() throws IOException {
    Files.writeString(folder.resolve("token"), "another");
    assertThatThrownBy(
            () ->
                KubernetesDiscovery.open(
                    settings(Map.of("dynamo.discovery.kubernetes.start-timeout", "5s")),
                    new PodIdentity("worker-0", "uid", ApiServer.NAMESPACE, null)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("within PT5S")
        .hasMessageContaining("Unauthorized");
  }

  @Test
  void othersAreHeardWhileARegistrationWaitsForAnAnswer() throws Exception {
    join(new InstanceId(2)).register(instance(2));
    var worker = join(new InstanceId(3));
    var held = server.holdWrites();
    var registering =
        CompletableFuture.runAsync(() -> worker.register(instance(3)), Thread::startVirtualThread);
    assertThat(held.arrived().await(60, TimeUnit.SECONDS)).isTrue();

    var heard = watching(worker);

    assertThat(heard.next()).isEqualTo(new Added<>(instance(2)));
    assertThat(registering).isNotDone();
    held.answered().countDown();
    assertThat(heard.next()).isEqualTo(new Added<>(instance(3)));
    assertThat(registering).succeedsWithin(Duration.ofSeconds(60));
  }

  @Test
  void anIdThatTheServerWouldChangeIsRefused() {
    var worker = join(new InstanceId(2));
    assertThatThrownBy(() -> worker.register(instance(1L << 53)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("above 2^53 - 1");
  }

  @Test
  void aPodWithoutANameIsRefused() {
    assertThatThrownBy(() -> PodIdentity.of(settings(Map.of()), folder))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("set POD_NAME by the downward API");
  }

  @Test
  void theFilesOfThePodGoBeforeTheSettings() throws IOException {
    Files.writeString(folder.resolve("pod_name"), "worker-3\n");
    Files.writeString(folder.resolve("pod_uid"), "uid-3");
    Files.writeString(folder.resolve("pod_namespace"), "other");
    assertThat(
            PodIdentity.of(
                settings(Map.of("dynamo.discovery.kubernetes.pod-name", "worker-4")), folder))
        .isEqualTo(new PodIdentity("worker-3", "uid-3", "other", null));
  }
}
