package io.dynamo.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.cli.cluster.ClusterFailedException;
import io.dynamo.cli.cluster.ClusterFolder;
import io.dynamo.cli.cluster.ClusterPlan;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterCommandTest {
  @TempDir private Path folder;

  private ClusterPlan plan(int port) throws IOException {
    var shipped = Path.of("../server-config/src/main/cluster").toAbsolutePath().normalize();
    var installation = Files.createDirectories(folder.resolve("installation"));
    if (Files.notExists(installation.resolve("cluster"))) {
      Files.createSymbolicLink(installation.resolve("cluster"), shipped);
    }
    return new ClusterPlan(
        installation,
        folder.resolve("data"),
        null,
        port,
        port + 10,
        port + 20,
        2,
        3,
        Duration.ofSeconds(1),
        Map.of(),
        "secret");
  }

  /**
   * A port with no listener on it or on the twenty after it, as far as one can know: below the
   * ports that other tests take, and not the first that is free, which another run would choose.
   */
  private static int freePorts() throws IOException {
    for (int attempt = 0; ; attempt++) {
      int port = 10_000 + 21 * ThreadLocalRandom.current().nextInt(280);
      try {
        for (int i = 0; i <= 20; i++) {
          new ServerSocket(port + i, 1, InetAddress.getLoopbackAddress()).close();
        }
        return port;
      } catch (java.net.BindException _) {
        assertThat(attempt).isLessThan(1_000);
      }
    }
  }

  @Test
  void optionsOutOfBoundsAreRefused() {
    assertThat(CommandOutcome.of("cluster", "--workers", "0"))
        .satisfies(refused -> assertThat(refused.status()).isEqualTo(ExitCode.USAGE))
        .satisfies(
            refused -> assertThat(refused.error()).contains("--workers is 0; it must be 1 to 16"));
    assertThat(CommandOutcome.of("cluster", "--port", "65533").error())
        .contains("--port is 65533; it must be 1 to 65531");
    assertThat(CommandOutcome.of("cluster", "--wait", "0").error()).contains("--wait is 0");
  }

  @Test
  void onlyAnInstallationHasACluster() {
    var refused = CommandOutcome.of("cluster");

    assertThat(refused.status()).isEqualTo(ExitCode.REFUSED);
    assertThat(refused.error()).contains("started from the runnable archive");
  }

  @Test
  void variablesThatTheClusterSetsItselfAreRefusedByName() {
    assertThatThrownBy(
            () ->
                ClusterCommand.refuseOwnVariables(
                    Map.of("DYN_TCP_RPC_PORT", "1", "NATS_SERVER", "nats://x", "PATH", "/bin")))
        .isInstanceOf(RefusedException.class)
        .hasMessageStartingWith("DYN_TCP_RPC_PORT, NATS_SERVER: ");
    assertThatCode(
            () ->
                ClusterCommand.refuseOwnVariables(
                    Map.of("DYN_REQUEST_PLANE", "nats", "ETCD_LEASE_TTL", "5")))
        .doesNotThrowAnyException();
  }

  @Test
  void portsThatOverlapAreNoPlan() throws IOException {
    var plan = plan(20_000);
    assertThat(plan.hasDistinctPorts()).isTrue();
    var overlapping =
        new ClusterPlan(
            plan.installation(),
            plan.data(),
            null,
            2376,
            2379,
            4222,
            2,
            3,
            Duration.ofSeconds(1),
            Map.of(),
            "secret");
    assertThat(overlapping.hasDistinctPorts()).isFalse();
  }

  @Test
  void serversHaveConsecutivePortsAfterTheFrontends() throws IOException {
    assertThat(plan(20_000).addresses())
        .extracting(ClusterPlan.Address::name, ClusterPlan.Address::address)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("etcd", "http://127.0.0.1:20010"),
            org.assertj.core.groups.Tuple.tuple("nats", "nats://127.0.0.1:20020"),
            org.assertj.core.groups.Tuple.tuple("frontend-1", "http://127.0.0.1:20000"),
            org.assertj.core.groups.Tuple.tuple("frontend-2", "http://127.0.0.1:20001"),
            org.assertj.core.groups.Tuple.tuple("worker-1", "http://127.0.0.1:20002"),
            org.assertj.core.groups.Tuple.tuple("worker-2", "http://127.0.0.1:20003"),
            org.assertj.core.groups.Tuple.tuple("worker-3", "http://127.0.0.1:20004"));
  }

  @Test
  void portInUseIsNamedWithItsOption() throws Exception {
    int port = freePorts();
    try (var _ = new ServerSocket(port + 2, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> ClusterFolder.prepare(plan(port)))
          .isInstanceOf(ClusterFailedException.class)
          .hasMessageContaining((port + 2) + " for worker-1 (--port)");
    }
  }

  @Test
  void folderIsUsedByOneClusterAtATimeAndForgetsWhatWasStored() throws Exception {
    var plan = plan(freePorts());
    var old = folder.resolve("data/etcd/data/member/wal");
    Files.createDirectories(old.getParent());
    Files.writeString(old, "old");
    var outside = Files.writeString(folder.resolve("outside"), "kept");
    Files.createSymbolicLink(folder.resolve("data/etcd/data/link"), outside);

    try (var _ = ClusterFolder.prepare(plan)) {
      assertThat(old).doesNotExist();
      assertThat(outside).hasContent("kept");
      assertThat(folder.resolve("data/etcd/etcd.yaml"))
          .content()
          .contains("listen-client-urls: http://127.0.0.1:" + plan.etcdPort())
          .contains("data-dir: '" + folder.resolve("data/etcd/data") + "'")
          .contains("auto-compaction-mode: periodic")
          .doesNotContain(":2379", ":2380");
      assertThatThrownBy(() -> ClusterFolder.prepare(plan))
          .hasMessageContaining("another cluster runs on");
    }
    ClusterFolder.prepare(plan).close();
  }
}
