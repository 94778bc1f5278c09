package io.dynamo.cli;

import io.dynamo.cli.cluster.ClusterFailedException;
import io.dynamo.cli.cluster.ClusterFolder;
import io.dynamo.cli.cluster.ClusterPlan;
import io.dynamo.cli.cluster.LocalCluster;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Runs etcd, a NATS server, frontends and workers on this machine until it gets a signal. */
@Command(
    name = "cluster",
    description = {
      "Starts a cluster on this machine: etcd, a NATS server, frontends with their routers,"
          + " workers.",
      "Prints their addresses when all serve, starts again what ends, and stops all on Ctrl-C."
    })
final class ClusterCommand extends Subcommand {
  /** Set by {@code bin/dynamo}. */
  static final String INSTALLATION = "dynamo.installation";

  private static final int MOST_SERVERS = 16;
  private static final int MOST_PORT = 65_535;
  private static final int MOST_SECONDS = 3600;
  private static final int PASSWORD_BYTES = 16;

  /** Variables that would be the same for all servers and must not be, or that are set here. */
  private static final List<String> OWN =
      List.of(
          "DYN_DISCOVERY_BACKEND",
          "DYN_EVENT_PLANE",
          "DYN_HTTP_HOST",
          "DYN_HTTP_PORT",
          "DYN_HTTP_RPC_PORT",
          "DYN_KV_STORE",
          "DYN_SYSTEM_PORT",
          "DYN_TCP_RESPONSE_STREAM_PORT",
          "DYN_TCP_RPC_PORT",
          "DYN_TLS_CERT_PATH",
          "DYNAMO_DISCOVERY_BACKEND",
          "DYNAMO_EVENT_PLANE",
          "DYNAMO_HTTP_HOST",
          "DYNAMO_HTTP_PORT",
          "DYNAMO_HTTP_TLS_CERTIFICATE",
          "DYNAMO_REQUEST_HTTP2_PORT",
          "DYNAMO_REQUEST_TCP_REQUEST_PORT",
          "DYNAMO_REQUEST_TCP_RESPONSE_PORT",
          "DYNAMO_ROLES",
          "DYNAMO_SYSTEM_PORT",
          "DYNAMO_TRANSFER_PORT");

  private static final List<String> OWN_PREFIXES =
      List.of("NATS_", "DYNAMO_NATS_", "ETCD_ENDPOINTS", "ETCD_AUTH_", "DYNAMO_DISCOVERY_ETCD_");

  @Option(
      names = "--port",
      paramLabel = "NUMBER",
      defaultValue = "8000",
      description =
          "The port of the first frontend; the other frontends and the workers have the next ones"
              + " (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--etcd-port",
      paramLabel = "NUMBER",
      defaultValue = "2379",
      description = "The port of etcd, which uses the next one, too (default: ${DEFAULT-VALUE}).")
  private int etcdPort;

  @Option(
      names = "--nats-port",
      paramLabel = "NUMBER",
      defaultValue = "4222",
      description = "The port of the NATS server (default: ${DEFAULT-VALUE}).")
  private int natsPort;

  @Option(
      names = "--frontends",
      paramLabel = "COUNT",
      defaultValue = "2",
      description = "How many frontends (default: ${DEFAULT-VALUE}).")
  private int frontends;

  @Option(
      names = "--workers",
      paramLabel = "COUNT",
      defaultValue = "3",
      description = "How many workers (default: ${DEFAULT-VALUE}).")
  private int workers;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description =
          "Where logs and state are kept (default: $XDG_STATE_HOME/dynamo/cluster, else"
              + " ~/.local/state/dynamo/cluster).")
  private @Nullable Path data;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Settings of all servers as key=value lines.")
  private @Nullable Path config;

  @Option(
      names = "--wait",
      paramLabel = "SECONDS",
      defaultValue = "300",
      description = "How long the start may take (default: ${DEFAULT-VALUE}).")
  private int wait;

  ClusterCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    var plan = plan();
    long began = System.nanoTime();
    try {
      ClusterFolder.requirePrograms();
      return run(plan, began);
    } catch (ClusterFailedException e) {
      error().println("dynamo: " + e.getMessage());
      return ExitCode.REFUSED;
    }
  }

  private int run(ClusterPlan plan, long began)
      throws ClusterFailedException, InterruptedException {
    try (var _ = ClusterFolder.prepare(plan);
        var cluster = new LocalCluster(plan, line -> print("dynamo: " + line))) {
      var stop = Thread.ofPlatform().unstarted(cluster::close);
      Runtime.getRuntime().addShutdownHook(stop);
      print(
          "Starts etcd, a NATS server, %d frontends and %d workers; their logs are below %s"
              .formatted(frontends, workers, plan.data()));
      if (!cluster.start()) {
        return ExitCode.REFUSED;
      }
      for (var address : plan.addresses()) {
        print("  %-12s %s".formatted(address.name(), address.address()));
      }
      print(
          "All serve after %d s. Ctrl-C stops them."
              .formatted(Duration.ofNanos(System.nanoTime() - began).toSeconds()));
      cluster.awaitClosed();
      return ExitCode.DONE;
    }
  }

  private synchronized void print(String line) {
    out().println(line);
    out().flush();
  }

  private ClusterPlan plan() {
    checkBounds("--frontends", frontends, 1, MOST_SERVERS);
    checkBounds("--workers", workers, 1, MOST_SERVERS);
    checkBounds("--port", port, 1, MOST_PORT + 1 - frontends - workers);
    checkBounds("--etcd-port", etcdPort, 1, MOST_PORT - 1);
    checkBounds("--nats-port", natsPort, 1, MOST_PORT);
    checkBounds("--wait", wait, 1, MOST_SECONDS);
    var environment = System.getenv();
    refuseOwnVariables(environment);
    var installation = System.getProperty(INSTALLATION);
    if (installation == null) {
      throw new RefusedException(
          "a cluster is started from the runnable archive; run bin/dynamo of one");
    }
    var plan =
        new ClusterPlan(
            Path.of(installation),
            folder(environment),
            config == null ? null : config.toAbsolutePath(),
            port,
            etcdPort,
            natsPort,
            frontends,
            workers,
            Duration.ofSeconds(wait),
            environment,
            password());
    checkDistinct(plan);
    return plan;
  }

  private void checkBounds(String option, int value, int least, int most) {
    if (value < least || value > most) {
      throw new ParameterException(
          commandLine(), "%s is %d; it must be %d to %d".formatted(option, value, least, most));
    }
  }

  private void checkDistinct(ClusterPlan plan) {
    if (!plan.hasDistinctPorts()) {
      throw new ParameterException(
          commandLine(),
          "the ports of --port (%d to %d), --etcd-port (%d and %d) and --nats-port (%d) overlap;"
                  .formatted(port, port + frontends + workers - 1, etcdPort, etcdPort + 1, natsPort)
              + " choose others");
    }
  }

  /** Refuses variables that would make all servers listen on one port, or join another cluster. */
  static void refuseOwnVariables(Map<String, String> environment) {
    var found = new TreeSet<String>();
    for (var name : environment.keySet()) {
      if (OWN.contains(name) || OWN_PREFIXES.stream().anyMatch(name::startsWith)) {
        found.add(name);
      }
    }
    if (!found.isEmpty()) {
      throw new RefusedException(
          "%s: a cluster on one machine sets ports, stores and planes itself; unset this and use its options"
              .formatted(String.join(", ", found)));
    }
  }

  private Path folder(Map<String, String> environment) {
    if (data != null) {
      return data.toAbsolutePath().normalize();
    }
    var state = environment.get("XDG_STATE_HOME");
    var home = environment.get("HOME");
    if ((state == null || state.isBlank()) && (home == null || home.isBlank())) {
      throw new RefusedException(
          "neither XDG_STATE_HOME nor HOME is set; name the cluster's folder with --data");
    }
    var states =
        state == null || state.isBlank()
            ? Path.of(home == null ? "" : home, ".local", "state")
            : Path.of(state);
    return states.resolve("dynamo").resolve("cluster").toAbsolutePath();
  }

  /** Begins with a letter: nats-server reads a value of the environment as it reads its file. */
  private static String password() {
    var bytes = new byte[PASSWORD_BYTES];
    new SecureRandom().nextBytes(bytes);
    return "p" + HexFormat.of().formatHex(bytes);
  }
}
