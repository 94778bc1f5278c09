package io.dynamo.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A frontend with its router and workers, each a server process of its own, that find each other
 * through a folder. Owned by one test thread.
 */
final class Cluster implements AutoCloseable {
  /** The model that ships with the server. */
  static final String MODEL = "tiny";

  private final List<ServerProcess> servers = new ArrayList<>();

  /** Starts all, and returns when the frontend lists the model. */
  static Cluster of(String name, int workers) {
    var cluster = new Cluster();
    try {
      var store = Files.createTempDirectory("dynamo-discovery");
      cluster.servers.add(plan(name + "-frontend", store).roles("frontend,router").start());
      for (int i = 0; i < workers; i++) {
        cluster.servers.add(plan(name + "-worker-" + i, store).roles("worker").start());
      }
      cluster.servers.forEach(ServerProcess::awaitReady);
      Polling.until(
          "the model is listed",
          Duration.ofSeconds(30),
          () -> cluster.frontend().get("/v1/models").body().contains('"' + MODEL + '"'));
      return cluster;
    } catch (IOException unwritable) {
      cluster.close();
      throw new UncheckedIOException(unwritable);
    } catch (RuntimeException | Error failed) {
      cluster.close();
      throw failed;
    }
  }

  private static ServerProcess.Plan plan(String name, Path store) {
    return ServerProcess.Plan.named(name)
        .with("DYN_DISCOVERY_BACKEND", "file")
        .with("DYN_FILE_KV", store.toString());
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
