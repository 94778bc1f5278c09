package io.dynamo.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A frontend with its router and workers, each a server process of its own with its role file, that
 * find each other through a folder. Owned by one test thread.
 */
final class Cluster implements AutoCloseable {
  /** The model that ships with the server. */
  static final String MODEL = "tiny";

  private static final String JVM_ARGS = "-Xmx512m -Ddynamo.role=";

  private final Plan plan;
  private final Path store;
  private final List<ServerProcess> servers = new ArrayList<>();

  private Cluster(Plan plan, Path store) {
    this.plan = plan;
    this.store = store;
  }

  /**
   * What a cluster is started with.
   *
   * @param frontendArgs more arguments of the frontend's JVM
   * @param worker environment of each worker
   * @param workerRole of each worker; with {@code all} each is another frontend, too
   */
  record Plan(
      String name,
      int workers,
      String frontendArgs,
      Map<String, String> worker,
      String workerRole) {
    static Plan of(String name, int workers) {
      return new Plan(name, workers, "", Map.of(), "worker");
    }

    Plan worker(Map<String, String> environment) {
      return new Plan(name, workers, frontendArgs, environment, workerRole);
    }

    Plan frontendArgs(String args) {
      return new Plan(name, workers, args, worker, workerRole);
    }

    Plan workerRole(String role) {
      return new Plan(name, workers, frontendArgs, worker, role);
    }

    /** Starts all, and returns when the frontend sees every worker. */
    Cluster start() throws IOException {
      var cluster = new Cluster(this, Files.createTempDirectory("dynamo-discovery"));
      try {
        cluster.startAll();
        return cluster;
      } catch (RuntimeException | Error failed) {
        cluster.close();
        throw failed;
      }
    }
  }

  /** One after the other: together they would only share the processors. */
  private void startAll() {
    servers.add(
        server(plan.name + "-frontend")
            .with("JVM_ARGS", JVM_ARGS + "frontend " + plan.frontendArgs)
            .start());
    for (int i = 0; i < plan.workers; i++) {
      servers.add(startWorker(i));
      servers.getLast().awaitReady();
    }
    servers.getFirst().awaitReady(); // once it has found a model
    awaitRegistered();
    Polling.until(
        "the model is listed",
        Duration.ofSeconds(30),
        () -> frontend().get("/v1/models").body().contains('"' + MODEL + '"'));
  }

  private ServerProcess startWorker(int index) {
    var worker =
        server(plan.name + "-worker-" + index).with("JVM_ARGS", JVM_ARGS + plan.workerRole);
    for (var setting : plan.worker.entrySet()) {
      worker = worker.with(setting.getKey(), setting.getValue());
    }
    return worker.start();
  }

  /** Starts a worker in place of one that is killed here, if it lives. */
  void replaceWorker(int index) {
    worker(index).close();
    servers.set(index + 1, startWorker(index));
    worker(index).awaitReady();
    awaitRegistered();
  }

  private void awaitRegistered() {
    Polling.until(
        "all workers are registered", Duration.ofSeconds(30), () -> registered() == plan.workers);
  }

  /** The folder through which they find each other. */
  Path store() {
    return store;
  }

  private ServerProcess.Plan server(String name) {
    return ServerProcess.Plan.named(name)
        .with("DYN_DISCOVERY_BACKEND", "file")
        .with("DYN_FILE_KV", store.toString());
  }

  /** Workers whose instance is in discovery. */
  long registered() {
    var instances = store.resolve("v1/instances");
    if (!Files.isDirectory(instances)) {
      return 0;
    }
    try (var records = Files.list(instances)) {
      return records.filter(record -> record.toString().contains("generate")).count();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  ServerProcess frontend() {
    return servers.getFirst();
  }

  ServerProcess worker(int index) {
    return servers.get(index + 1);
  }

  @Override
  public void close() {
    servers.forEach(ServerProcess::close);
  }
}
