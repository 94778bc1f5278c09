package io.dynamo.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * A frontend with its router and workers, each a server process of its own with its role file, that
 * find each other through a folder. Owned by one test thread.
 */
final class Cluster implements AutoCloseable {
  /** The model that ships with the server. */
  static final String MODEL = "tiny";

  private final Plan plan;
  private final Path store;
  private final List<ServerProcess> servers = new ArrayList<>();

  private Cluster(Plan plan, Path store) {
    this.plan = plan;
    this.store = store;
  }

  /**
   * The settings that a cluster is started with.
   *
   * @param worker environment of each worker, by its index
   * @param workerRole of each worker; with {@code all} each is another frontend, too
   * @param models served by each worker
   */
  record Plan(
      String name,
      int workers,
      IntFunction<Map<String, String>> worker,
      String workerRole,
      int models) {
    static Plan of(String name, int workers) {
      return new Plan(name, workers, _ -> Map.of(), "worker", 1);
    }

    Plan worker(Map<String, String> environment) {
      return worker(_ -> environment);
    }

    /** The same with an environment of its own for each worker. */
    Plan worker(IntFunction<Map<String, String>> environment) {
      return new Plan(name, workers, environment, workerRole, models);
    }

    Plan workerRole(String role) {
      return new Plan(name, workers, worker, role, models);
    }

    Plan models(int count) {
      return new Plan(name, workers, worker, workerRole, count);
    }

    private int instances() {
      return workers * models;
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

  /** All at once: where one waits for its disk or for a thread of its own, another computes. */
  private void startAll() {
    servers.add(server(plan.name + "-frontend", "frontend").start());
    for (int i = 0; i < plan.workers; i++) {
      servers.add(startWorker(i, Map.of()));
    }
    servers.forEach(ServerProcess::awaitReady); // the frontend once it has found a model
    awaitSeen(frontend());
    Polling.until(
        "the model is listed",
        Duration.ofSeconds(30),
        () -> frontend().get("/v1/models").body().contains('"' + MODEL + '"'));
  }

  private ServerProcess startWorker(int index, Map<String, String> settings) {
    var worker = server(plan.name + "-worker-" + index, plan.workerRole);
    var all = new HashMap<>(plan.worker.apply(index));
    all.putAll(settings);
    for (var setting : all.entrySet()) {
      worker = worker.with(setting.getKey(), setting.getValue());
    }
    return worker.start();
  }

  /** Starts a worker in place of one that is killed here, if it lives. */
  void replaceWorker(int index) {
    replaceWorker(index, Map.of());
  }

  /**
   * The same with an environment of its own.
   *
   * @param settings beside those of the plan, or in their place
   */
  void replaceWorker(int index, Map<String, String> settings) {
    worker(index).close();
    servers.set(index + 1, startWorker(index, settings));
    worker(index).awaitReady();
    awaitSeen(frontend());
  }

  /** Starts another frontend of the same workers; the caller closes it. Returns at once. */
  ServerProcess startFrontend(String name, String... args) {
    return server(plan.name + "-" + name, "frontend").jvm(args).start();
  }

  /**
   * Waits until {@code frontend} is ready and has heard that all workers are there, and they alone.
   */
  void awaitSeen(ServerProcess frontend) {
    frontend.awaitReady();
    Discovered.await(store, plan.instances(), Duration.ofSeconds(30));
    ServerFacts.awaitMetric(
        frontend, "dynamo_component_router_worker_registered", "", plan.instances());
  }

  /** The folder through which they find each other. */
  Path store() {
    return store;
  }

  private ServerProcess.Plan server(String name, String role) {
    return ServerProcess.Plan.named(name)
        .jvm("-Ddynamo.role=" + role)
        .with("DYN_DISCOVERY_BACKEND", "file")
        .with("DYN_FILE_KV", store.toString());
  }

  /** Workers whose instance is in discovery. */
  long registered() {
    return Discovered.workers(store);
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
