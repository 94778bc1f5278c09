package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The command that starts etcd, a NATS server, two frontends and three workers from the runnable
 * archive: its parts are killed one after the other while both frontends answer.
 */
@Tag("archive")
@ManyServers
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ClusterCommandIT {
  private static final Duration START = Duration.ofMinutes(6);
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final int STREAMS = 8;
  private static final int TOKENS = 60;
  private static final List<String> PARTS =
      List.of("etcd", "nats", "frontend-1", "frontend-2", "worker-1", "worker-2", "worker-3");

  private static @TempDir Path folder;

  @SuppressWarnings("NullAway.Init") // before all
  private static InstalledArchive archive;

  @SuppressWarnings("NullAway.Init") // before all
  private static Process cluster;

  @SuppressWarnings("NullAway.Init") // before all
  private static Path data;

  @SuppressWarnings("NullAway.Init") // before all
  private static Path console;

  private static int port;
  private static int etcdPort;
  private static int natsPort;

  @BeforeAll
  static void start() throws Exception {
    assumeTrue(InstalledArchive.isBuilt(), "the archive is built with -Parchive only");
    archive = InstalledArchive.unpackInto(folder);
    data = archive.scratch().resolve("cluster");
    console = folder.resolve("cluster.log");
    port = freePorts(5);
    etcdPort = freePorts(2);
    natsPort = ServerProcess.freePort();
    cluster = archive.start(console, environment(), command(data));
    Polling.until(
        "the cluster serves",
        START,
        Duration.ofMillis(200),
        () -> {
          if (!cluster.isAlive()) {
            throw new AssertionError("the cluster ended: " + Files.readString(console));
          }
          return Files.readString(console).contains("All serve after");
        });
  }

  @AfterAll
  static void stop() throws InterruptedException {
    if (cluster != null && cluster.isAlive()) {
      cluster.destroy();
      if (!cluster.waitFor(2, TimeUnit.MINUTES)) {
        cluster.destroyForcibly(); // the guards of its processes end them
      }
    }
  }

  private static Map<String, String> environment() {
    return Map.of(
        "JVM_ARGS", "-Xmx512m -XX:TieredStopAtLevel=1",
        "DYNAMO_WORKER_ENGINE", "mock",
        "DYNAMO_WORKER_TOKEN_INTERVAL", "40ms",
        "ETCD_LEASE_TTL", "5");
  }

  private static String[] command(Path data) {
    return new String[] {
      "cluster",
      "--port",
      Integer.toString(port),
      "--etcd-port",
      Integer.toString(etcdPort),
      "--nats-port",
      Integer.toString(natsPort),
      "--data",
      data.toString()
    };
  }

  /** The first of {@code count} consecutive ports that are free. */
  private static int freePorts(int count) throws IOException {
    while (true) {
      int first = ServerProcess.freePort();
      int next = first;
      while (next - first < count - 1 && ServerProcess.freePort() == next + 1) {
        next++;
      }
      if (next - first == count - 1) {
        return first;
      }
    }
  }

  private static ProcessHandle process(String part) throws IOException {
    var pid = Files.readString(data.resolve(part).resolve("pid")).strip();
    return ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
  }

  /** Streams at both frontends, each with the text of an unbroken run, while {@code fault} acts. */
  private static void answersStayWhole(int first, Fault fault) throws Exception {
    var oracle = OracleText.ofShippedModel();
    try (var one = Crowd.ask(port, first, STREAMS, TOKENS);
        var other = Crowd.ask(port + 1, first + STREAMS, STREAMS, TOKENS)) {
      one.awaitFlowing();
      other.awaitFlowing();
      fault.strike();
      one.endsAs(oracle, TOKENS);
      other.endsAs(oracle, TOKENS);
    }
  }

  /** An action that takes a part of the cluster away while answers are streamed. */
  private interface Fault {
    void strike() throws Exception;
  }

  private static void kill(String part) throws Exception {
    var process = process(part);
    process.destroyForcibly();
    process.onExit().get(10, TimeUnit.SECONDS);
    Polling.until(
        part + " is started again",
        LIMIT,
        () -> process(part).pid() != process.pid() && process(part).isAlive());
  }

  @Test
  @Order(1)
  void eachAddressIsPrinted() throws Exception {
    assertThat(Files.readString(console))
        .containsPattern("etcd +http://127.0.0.1:" + etcdPort)
        .containsPattern("nats +nats://127.0.0.1:" + natsPort)
        .containsPattern("frontend-1 +http://127.0.0.1:" + port)
        .containsPattern("worker-3 +http://127.0.0.1:" + (port + 4));
  }

  @Test
  @Order(2)
  void aSecondClusterIsRefusedAndTouchesNothing() throws Exception {
    var refused = archive.dynamo(environment(), command(archive.scratch().resolve("second")));
    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.text()).contains(port + " for frontend-1 (--port)");
    assertThat(archive.dynamo(environment(), command(data)).text())
        .contains("another cluster runs on");
    assertThat(process("etcd").isAlive()).isTrue();
  }

  @Test
  @Order(3)
  void textsAreWholeWhileAWorkerIsKilled() throws Exception {
    answersStayWhole(0, () -> kill("worker-2"));
  }

  @Test
  @Order(4)
  void textsAreWholeWhileTheNatsServerIsKilled() throws Exception {
    answersStayWhole(100, () -> kill("nats"));
    answersStayWhole(200, () -> {});
  }

  @Test
  @Order(5)
  void textsAreWholeWhileEtcdIsKilled() throws Exception {
    answersStayWhole(300, () -> kill("etcd"));
    answersStayWhole(400, () -> {});
  }

  @Test
  @Order(6)
  void noProcessIsLeftWhenItStops() throws Exception {
    var processes = Stream.concat(cluster.descendants(), Stream.of(cluster.toHandle())).toList();
    assertThat(processes).hasSizeGreaterThan(PARTS.size());
    cluster.destroy();
    assertThat(cluster.waitFor(2, TimeUnit.MINUTES)).as(Files.readString(console)).isTrue();
    Polling.until( // a guard may be within its last second of sleep
        "all processes are gone",
        Duration.ofSeconds(10),
        () -> processes.stream().noneMatch(ProcessHandle::isAlive));
  }

  @Test
  @Order(7)
  void aPartThatDoesNotStartIsNamedAndAllOthersStop() throws Exception {
    var broken = new LinkedHashMap<>(environment());
    broken.put("DYNAMO_WORKER_RANKS", "none");
    var outcome = archive.dynamo(broken, command(archive.scratch().resolve("broken")));

    assertThat(outcome.status()).as(outcome.text()).isEqualTo(1);
    assertThat(outcome.text())
        .containsPattern("(worker|frontend)-\\d ended with status 78 before it served")
        .contains("dynamo.worker.ranks");
    try (var parts = Files.newDirectoryStream(archive.scratch().resolve("broken"), "*/pid")) {
      assertThat(parts).isEmpty();
    }
  }
}
