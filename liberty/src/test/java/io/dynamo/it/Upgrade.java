package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two builds of the runnable archive, an earlier one and the present one, side by side in one fleet
 * under load: servers of one are replaced by those of the other, up and back down, by the steps of
 * docs/upgrade.md, and every answer is whole. Run by {@code .ci/upgrade}, which builds both.
 */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class Upgrade {
  private static final int CLIENTS = 8;
  private static final int ENOUGH = 5 * CLIENTS; // answers in each state of the fleet
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String EVENTS = "dynamo_component_kv_cache_events_applied";

  @SuppressWarnings("NullAway.Init") // before all
  private static InstalledArchive earlier;

  @SuppressWarnings("NullAway.Init") // before all
  private static InstalledArchive present;

  private static @TempDir Path installations;

  private final List<ArchiveServer> servers = new ArrayList<>();

  @BeforeAll
  static void unpack() throws Exception {
    earlier = unpack("dynamo.it.archive.earlier");
    present = unpack("dynamo.it.archive");
    assertThat(earlier.home().resolve("CHANGELOG.md"))
        .content()
        .as("two builds")
        .isNotEqualTo(Files.readString(present.home().resolve("CHANGELOG.md")));
  }

  private static InstalledArchive unpack(String property) throws Exception {
    var file = Path.of(System.getProperty(property, ""));
    assertThat(file).as("-D%s, as .ci/upgrade gives it", property).isRegularFile();
    return InstalledArchive.unpack(file, Files.createDirectory(installations.resolve(property)));
  }

  @AfterEach
  void closeServers() {
    servers.forEach(ArchiveServer::close);
  }

  /** The settings and options that servers of both versions share in one fleet. */
  private record Fleet(String name, Map<String, String> environment, List<String> options) {
    Fleet {
      environment = new HashMap<>(environment);
      environment.put("JVM_ARGS", "-Xmx512m -XX:TieredStopAtLevel=1");
      environment.put("DYNAMO_WORKER_ENGINE", "mock");
      environment.put("DYNAMO_WORKER_TOKEN_INTERVAL", "20ms");
    }
  }

  /** A frontend with its router, and two workers, all of one version. */
  private record Half(ArchiveServer frontend, List<ArchiveServer> workers) {}

  private ArchiveServer start(Fleet fleet, InstalledArchive version, String name, String roles)
      throws IOException {
    var unique = fleet.name() + "-" + servers.size() + "-" + name;
    var server = ArchiveServer.start(version, unique, roles, fleet.environment(), fleet.options());
    servers.add(server);
    return server;
  }

  private ArchiveServer startFrontend(Fleet fleet, InstalledArchive version) throws IOException {
    return start(fleet, version, "frontend", "frontend,router");
  }

  /** Takes the place of {@code old}, by the steps of the page; the new worker. */
  private ArchiveServer replaceWorker(
      Fleet fleet, InstalledArchive version, ArchiveServer old, BalancedLoad load)
      throws Exception {
    var worker = start(fleet, version, "worker", "worker").awaitReady(present);
    load.awaitMore(ENOUGH);
    old.drain();
    old.stop();
    load.awaitMore(ENOUGH);
    return worker;
  }

  private List<ArchiveServer> replaceWorkers(
      Fleet fleet, InstalledArchive version, Half old, BalancedLoad load) throws Exception {
    var replaced = new ArrayList<ArchiveServer>();
    for (var worker : old.workers()) {
      replaced.add(replaceWorker(fleet, version, worker, load));
    }
    for (var worker : replaced) {
      Polling.until("each new worker is asked", LIMIT, () -> served(worker) > 0);
    }
    return replaced;
  }

  private ArchiveServer replaceFrontend(
      Fleet fleet, InstalledArchive version, Half old, BalancedLoad load) throws Exception {
    var frontend = startFrontend(fleet, version).awaitReady(present);
    load.moveTo(frontend.port());
    assertThat(failed(old.frontend())).as("requests that failed at the old frontend").isZero();
    old.frontend().stop();
    load.awaitMore(ENOUGH);
    return frontend;
  }

  private Half begin(Fleet fleet, InstalledArchive version) throws Exception {
    var frontend = startFrontend(fleet, version);
    var workers =
        List.of(
            start(fleet, version, "worker", "worker"), start(fleet, version, "worker", "worker"));
    for (var worker : workers) {
      worker.awaitReady(present);
    }
    frontend.awaitReady(present);
    return new Half(frontend, workers);
  }

  private Half workersFirst(Fleet fleet, InstalledArchive version, Half old, BalancedLoad load)
      throws Exception {
    var workers = replaceWorkers(fleet, version, old, load);
    awaitKvEvents(old.frontend(), load);
    return new Half(replaceFrontend(fleet, version, old, load), workers);
  }

  private Half frontendsFirst(Fleet fleet, InstalledArchive version, Half old, BalancedLoad load)
      throws Exception {
    var frontend = replaceFrontend(fleet, version, old, load);
    awaitKvEvents(frontend, load);
    return new Half(frontend, replaceWorkers(fleet, version, old, load));
  }

  /** All workers are of the other version now: what the index hears comes from them. */
  private static void awaitKvEvents(ArchiveServer frontend, BalancedLoad load) throws Exception {
    long before = stored(frontend);
    load.awaitMore(ENOUGH);
    Polling.until("KV events of the other version", LIMIT, () -> stored(frontend) > before);
  }

  private static long stored(ArchiveServer frontend) throws IOException, InterruptedException {
    return frontend.metric(EVENTS, "event_type=\"stored\"", "status=\"ok\"");
  }

  private static long served(ArchiveServer worker) throws IOException, InterruptedException {
    return worker.metric("dynamo_component_requests_total", ServerFacts.GENERATE);
  }

  private static long failed(ArchiveServer frontend) throws IOException, InterruptedException {
    return frontend.metric("dynamo_frontend_requests_total", "status=\"error\"");
  }

  private void endWhole(Half last, BalancedLoad load) throws Exception {
    int answers = load.end();
    assertThat(failed(last.frontend())).isZero();
    assertThat(answers).isGreaterThan(10 * ENOUGH);
    System.out.printf("%d answers, all whole, %d servers%n", answers, servers.size());
  }

  /** Servers of one machine; a model folder of their own makes the workers one set. */
  @Test
  void workersFirstUpAndFrontendsFirstBackThroughAFolder() throws Exception {
    var model = present.scratch().resolve("model");
    ServerProcess.copyTree(PeerProcess.model(), model);
    var fleet =
        new Fleet(
            "upgrade-folder",
            Map.of(
                "DYNAMO_WORKER_MODEL_PATH",
                model.toString(),
                "DYNAMO_WORKER_MODEL_NAME",
                Cluster.MODEL),
            List.of("--store", present.scratch().resolve("store").toString()));
    var old = begin(fleet, earlier);
    try (var load = new BalancedLoad(CLIENTS, old.frontend().port())) {
      load.awaitMore(ENOUGH);
      var up = workersFirst(fleet, present, old, load);
      var back = frontendsFirst(fleet, earlier, up, load);
      endWhole(back, load);
    }
  }

  /** Each version serves the model of its own installation: two sets of one model. */
  @Test
  void frontendsFirstUpAndWorkersFirstBackThroughEtcdAndNats(@TempDir Path stores)
      throws Exception {
    try (var etcd = EtcdProcess.start(stores);
        var nats = NatsProcess.start("upgrade-nats")) {
      var fleet =
          new Fleet(
              "upgrade-etcd",
              Map.of(
                  "DYN_DISCOVERY_BACKEND",
                  "etcd",
                  "ETCD_ENDPOINTS",
                  etcd.endpoint(),
                  "DYN_EVENT_PLANE",
                  "nats",
                  "NATS_SERVER",
                  nats.url()),
              List.of());
      var old = begin(fleet, earlier);
      try (var load = new BalancedLoad(CLIENTS, old.frontend().port())) {
        load.awaitMore(ENOUGH);
        var up = frontendsFirst(fleet, present, old, load);
        var back = workersFirst(fleet, earlier, up, load);
        endWhole(back, load);
      }
    }
  }
}
