package io.dynamo.cli.cluster;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which processes a cluster on this machine has, and where they listen on loopback.
 *
 * @param installation the folder of the runnable archive
 * @param data holds a folder for each process
 * @param config settings of all servers; null for those in the environment alone
 * @param port of the first frontend; the other frontends and then the workers have the next ones
 * @param etcdPort of etcd; its port for members is the next
 * @param deadline of the start as a whole
 * @param environment what the servers inherit
 * @param password of etcd and the NATS server, made for this cluster
 */
public record ClusterPlan(
    Path installation,
    Path data,
    @Nullable Path config,
    int port,
    int etcdPort,
    int natsPort,
    int frontends,
    int workers,
    Duration deadline,
    Map<String, String> environment,
    String password) {
  private static final Duration STORE_GRACE = Duration.ofSeconds(15);
  private static final Duration SERVER_GRACE = Duration.ofSeconds(60);
  private static final String NATS_USER = "dynamo";
  private static final String ETCD_USER = "root";
  private static final String LOOPBACK = "127.0.0.1";

  public ClusterPlan {
    environment = Map.copyOf(environment);
  }

  /** Where a process can be reached. */
  public record Address(String name, String address) {}

  /** Returns the address of each process, in the order of their start. */
  public List<Address> addresses() {
    return stages().stream()
        .flatMap(List::stream)
        .map(part -> new Address(part.name(), part.address()))
        .toList();
  }

  /** Returns the ports that the processes need, each with its purpose. */
  Map<Integer, String> ports() {
    var ports = new LinkedHashMap<Integer, String>();
    for (int i = 0; i < frontends + workers; i++) {
      ports.put(port + i, serverName(i) + " (--port)");
    }
    ports.put(etcdPort, "etcd (--etcd-port)");
    ports.put(etcdPort + 1, "etcd's members (--etcd-port)");
    ports.put(natsPort, "the NATS server (--nats-port)");
    return ports;
  }

  /** Returns whether no port is meant for two processes. */
  public boolean hasDistinctPorts() {
    return ports().size() == frontends + workers + 3;
  }

  private String serverName(int number) {
    return number < frontends ? "frontend-" + (number + 1) : "worker-" + (number - frontends + 1);
  }

  Path etcdFolder() {
    return data.resolve("etcd");
  }

  /** Returns the stores, and the servers that need them. */
  List<List<PartPlan>> stages() {
    var servers = new ArrayList<PartPlan>();
    for (int i = 0; i < frontends + workers; i++) {
      servers.add(server(serverName(i), i < frontends ? "frontend,router" : "worker", port + i));
    }
    return List.of(List.of(etcd(), nats()), servers);
  }

  private PartPlan etcd() {
    var environment = new LinkedHashMap<>(this.environment);
    environment.keySet().removeIf(name -> name.startsWith("ETCD_")); // would be settings of etcd
    return new PartPlan(
        "etcd",
        etcdFolder(),
        List.of(
            program("etcd"),
            "--config-file",
            etcdFolder().resolve(ClusterFolder.ETCD_FILE).toString()),
        environment,
        url(etcdPort, ""),
        List.of(
            new HttpProbe(URI.create(url(etcdPort, "/health")), "\"true\""),
            new EtcdGate(url(etcdPort, ""), ETCD_USER, password)),
        STORE_GRACE);
  }

  private PartPlan nats() {
    var environment = new LinkedHashMap<>(this.environment);
    environment.putAll(stores()); // its file reads user and password there
    return new PartPlan(
        "nats",
        data.resolve("nats"),
        List.of(
            program("nats-server"),
            "--config",
            installation.resolve("cluster/nats-server.conf").toString(),
            "--addr",
            LOOPBACK,
            "--port",
            Integer.toString(natsPort)),
        environment,
        natsUrl(),
        List.of(new NatsProbe(natsPort)),
        STORE_GRACE);
  }

  /**
   * Returns the path of a program: servers may be in folders that a user's shell does not look in.
   */
  private static String program(String name) {
    return Programs.find(name).map(Path::toString).orElse(name);
  }

  private PartPlan server(String name, String roles, int at) {
    var folder = data.resolve(name);
    var command = new ArrayList<String>();
    command.add(installation.resolve("bin/dynamo").toString());
    command.addAll(List.of("serve", "--name", name, "--data", folder.toString()));
    command.addAll(List.of("--roles", roles, "--host", LOOPBACK, "--port", Integer.toString(at)));
    if (config != null) {
      command.addAll(List.of("--config", config.toString()));
    }
    var environment = new LinkedHashMap<>(this.environment);
    environment.putAll(stores());
    var probes = new ArrayList<Probe>();
    probes.add(new HttpProbe(URI.create(url(at, "/health/ready")), ""));
    if (!roles.equals("worker")) {
      probes.add(new HttpProbe(URI.create(url(at, "/v1/models")), "\"id\""));
    }
    return new PartPlan(name, folder, command, environment, url(at, ""), probes, SERVER_GRACE);
  }

  /** Returns the variables with which a process joins this cluster. */
  Map<String, String> stores() {
    var variables = new LinkedHashMap<String, String>();
    variables.put("DYN_DISCOVERY_BACKEND", "etcd");
    variables.put("ETCD_ENDPOINTS", url(etcdPort, ""));
    variables.put("ETCD_AUTH_USERNAME", ETCD_USER);
    variables.put("ETCD_AUTH_PASSWORD", password);
    variables.put("DYN_EVENT_PLANE", "nats");
    variables.put("NATS_SERVER", natsUrl());
    variables.put("NATS_AUTH_USERNAME", NATS_USER);
    variables.put("NATS_AUTH_PASSWORD", password);
    return variables;
  }

  private String natsUrl() {
    return "nats://%s:%d".formatted(LOOPBACK, natsPort);
  }

  private static String url(int port, String path) {
    return "http://%s:%d%s".formatted(LOOPBACK, port, path);
  }
}
