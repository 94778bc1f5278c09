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

  private final Path store;
  private final List<ServerProcess> servers = new ArrayList<>();

  private Cluster(Path store) {
    this.store = store;
  }

  /**
   * What a cluster is started with.
   *
   * @param frontendArgs more arguments of the frontend's JVM
   * @param worker environment of each worker
   */
  record Plan(String name, int workers, String frontendArgs, Map<String, String> worker) {
    static Plan of(String name, int workers) {
      return new Plan(name, workers, "", Map.of());
    }

    Plan worker(Map<String, String> environment) {
      return new Plan(name, workers, frontendArgs, environment);
    }

    Plan frontendArgs(String args) {
      return new Plan(name, workers, args, worker);
    }

    /** Starts all, and returns when the frontend sees every worker. */
    Cluster start() throws IOException {
      var cluster = new Cluster(Files.createTempDirectory("dynamo-discovery"));
      try {
        cluster.start(this);
        return cluster;
      } catch (RuntimeException | Error failed) {
        cluster.close();
        throw failed;
      }
    }
  }

  /** One after the other: together they would only share the processors. */
  private void start(Plan plan) {
    servers.add(
        server(plan.name + "-frontend")
            .with("JVM_ARGS", JVM_ARGS + "frontend " + plan.frontendArgs)
            .start());
    for (int i = 0; i < plan.workers; i++) {
      var worker = server(plan.name + "-worker-" + i).with("JVM_ARGS", JVM_ARGS + "worker");
      for (var setting : plan.worker.entrySet()) {
        worker = worker.with(setting.getKey(), setting.getValue());
      }
      servers.add(worker.start());
      servers.getLast().awaitReady();
    }
    servers.getFirst().awaitReady(); // once it has found a model
    Polling.until(
        "all workers are registered", Duration.ofSeconds(30), () -> registered() == plan.workers);
    Polling.until(
        "the model is listed",
        Duration.ofSeconds(30),
        () -> frontend().get("/v1/models").body().contains('"' + MODEL + '"'));
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
