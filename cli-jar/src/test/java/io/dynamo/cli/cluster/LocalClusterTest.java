package io.dynamo.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Parts are small shell scripts: what a part prints and how it ends is the test's. */
@Timeout(120)
class LocalClusterTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String SLEEPS = "echo is up; exec sleep 300";
  private static final Probe SERVES = () -> null;

  @TempDir private Path folder;
  private final LinkedBlockingQueue<String> reports = new LinkedBlockingQueue<>();

  private PartPlan part(String name, String script, Probe probe) {
    return new PartPlan(
        name,
        folder.resolve(name),
        List.of("/bin/sh", "-c", script),
        Map.of("PATH", "/usr/bin:/bin"),
        name,
        List.of(probe),
        Duration.ofSeconds(2));
  }

  private LocalCluster cluster(Duration deadline, List<PartPlan> stores, List<PartPlan> servers) {
    return new LocalCluster(List.of(stores, servers), deadline, reports::add);
  }

  /** The process of a part, once its guard has written which one it is. */
  private ProcessHandle process(String name) {
    var file = folder.resolve(name).resolve("pid");
    await(name + " has a process", () -> !read(file).isBlank());
    return ProcessHandle.of(Long.parseLong(read(file).strip())).orElseThrow();
  }

  private static String read(Path file) {
    try {
      return Files.exists(file) ? Files.readString(file) : "";
    } catch (IOException _) {
      return "";
    }
  }

  private static void await(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as(what).isNegative();
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  @Test
  void serversStartWhenStoresServeAndAllEndWithTheCluster() throws Exception {
    var up = folder.resolve("up");
    var store =
        part(
            "store",
            "touch '%s'; exec sleep 300".formatted(up),
            () -> Files.exists(up) ? null : "not up");
    var server = part("server", "[ -e '%s' ] || exit 9; %s".formatted(up, SLEEPS), SERVES);
    var cluster = cluster(LIMIT, List.of(store), List.of(server));

    assertThat(cluster.start()).isTrue();
    var processes = List.of(process("store"), process("server"));
    assertThat(processes).allMatch(ProcessHandle::isAlive);
    cluster.close();

    assertThat(processes).noneMatch(ProcessHandle::isAlive);
    assertThat(folder.resolve("store/pid")).doesNotExist();
    assertThat(reports).isEmpty();
  }

  @Test
  void partThatEndsDuringTheStartIsNamedWithItsLastLines() throws Exception {
    var store = part("store", SLEEPS, SERVES);
    var broken =
        part("broken", "echo first; echo the port is taken >&2; exit 7", () -> "does not answer");
    var cluster = cluster(LIMIT, List.of(store), List.of(broken));

    assertThatThrownBy(cluster::start)
        .isInstanceOf(ClusterFailedException.class)
        .hasMessageContaining("broken ended with status 7")
        .hasMessageContaining("  the port is taken")
        .hasMessageContaining("console.log");
    var left = process("store");
    cluster.close();

    assertThat(left.isAlive()).isFalse();
  }

  @Test
  void partThatNeverServesIsNamedAtTheDeadline() {
    var mute = part("mute", SLEEPS, () -> "port 1 does not answer");
    try (var cluster = cluster(Duration.ofSeconds(1), List.of(mute), List.of())) {
      assertThatThrownBy(cluster::start)
          .hasMessageContaining("mute does not serve within 1 s: port 1 does not answer");
    }
  }

  @Test
  void programThatIsMissingIsNamed() {
    var missing =
        new PartPlan(
            "missing",
            folder.resolve("missing"),
            List.of("/no/such/program"),
            Map.of("PATH", "/usr/bin:/bin"),
            "",
            List.of(() -> "does not answer"),
            Duration.ofSeconds(1));
    try (var cluster = cluster(LIMIT, List.of(missing), List.of())) {
      assertThatThrownBy(cluster::start)
          .hasMessageContaining("missing ended with status 127")
          .hasMessageContaining("/no/such/program");
    }
  }

  @Test
  void partThatIsKilledIsStartedAgain() throws Exception {
    try (var cluster = cluster(LIMIT, List.of(part("store", SLEEPS, SERVES)), List.of())) {
      cluster.start();
      var first = process("store");
      first.destroyForcibly();

      assertThat(reports.poll(LIMIT.toSeconds(), TimeUnit.SECONDS))
          .contains("store ended with status 137 and is started again in 1 s");
      await("another process", () -> isAnother(first));
    }
  }

  private boolean isAnother(ProcessHandle first) {
    var pid = read(folder.resolve("store/pid")).strip();
    return !pid.isEmpty() && Long.parseLong(pid) != first.pid();
  }

  @Test
  void partThatIgnoresTheRequestToEndIsKilled() throws Exception {
    var deaf =
        part(
            "deaf",
            "trap '' TERM; touch '%s'; while :; do sleep 1; done"
                .formatted(folder.resolve("deaf-up")),
            () -> Files.exists(folder.resolve("deaf-up")) ? null : "not up");
    var cluster = cluster(LIMIT, List.of(deaf), List.of());
    cluster.start();
    var process = process("deaf");

    cluster.close();

    assertThat(process.isAlive()).isFalse();
  }

  @Test
  void closeDuringTheStartEndsIt() throws Exception {
    var slow = part("slow", SLEEPS, () -> "not yet");
    var cluster = cluster(LIMIT, List.of(slow), List.of());
    var closer =
        Thread.ofVirtual()
            .start(
                () -> {
                  process("slow");
                  cluster.close();
                });

    assertThat(cluster.start()).isFalse();
    closer.join(LIMIT);
    cluster.awaitClosed();

    assertThat(folder.resolve("slow/pid")).doesNotExist();
  }

  @Test
  void processesEndWhenTheirStarterIsKilled() throws Exception {
    var java = Path.of(System.getProperty("java.home"), "bin/java").toString();
    var classes = Path.of("target/classes").toAbsolutePath() + File.pathSeparator;
    var starter =
        new ProcessBuilder(
                java,
                "-cp",
                classes + Path.of("target/test-classes").toAbsolutePath(),
                GuardedStarter.class.getName(),
                folder.resolve("orphan").toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("starter.log").toFile())
            .start();
    try {
      var orphan = process("orphan");
      starter.destroyForcibly();

      orphan.onExit().get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    } finally {
      starter.destroyForcibly();
    }
  }
}
