package io.dynamo.frontend.load;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A server of the comparison. One thread. */
final class Server implements AutoCloseable {
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final long START_SECONDS = 300; // two servers start on one core

  private final String name;
  private final int port;
  private final Process process;

  private Server(String name, int port, Process process) {
    this.name = name;
    this.port = port;
    this.process = process;
  }

  /**
   * Starts {@code command}; what it prints goes to a file in {@code folder}.
   *
   * @param cores that it may use; null for all
   */
  static Server start(
      String name,
      int port,
      String cores,
      Path folder,
      Map<String, String> environment,
      List<String> command)
      throws IOException {
    var all = new ArrayList<String>();
    if (cores != null) {
      all.addAll(List.of("taskset", "-c", cores));
    }
    all.addAll(command);
    var builder = new ProcessBuilder(all).directory(folder.toFile()).redirectErrorStream(true);
    builder.redirectOutput(folder.resolve(name + ".log").toFile());
    builder
        .environment()
        .keySet()
        .removeIf(key -> key.startsWith("DYN_") || key.startsWith("DYNAMO_"));
    builder.environment().putAll(environment);
    return new Server(name, port, builder.start());
  }

  /** Waits until {@code path} answers with 200 and {@code text}. */
  Server await(String path, String text) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (System.nanoTime() < deadline && process.isAlive()) {
      try {
        var request =
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Duration.ofSeconds(5))
                .build();
        var response = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() == 200 && response.body().contains(text)) {
          return this;
        }
      } catch (IOException notYet) {
        // it starts
      }
      Thread.sleep(200);
    }
    close();
    throw new IOException(
        name + " does not answer " + path + " with " + text + "; its log says why");
  }

  int port() {
    return port;
  }

  /** The process that does the work: a launcher may stand before it. */
  long pid() {
    return process
        .toHandle()
        .descendants()
        .filter(ProcessHandle::isAlive)
        .reduce((first, last) -> last)
        .orElse(process.toHandle())
        .pid();
  }

  static int freePort() throws IOException {
    try (var probe = new ServerSocket(0)) {
      return probe.getLocalPort();
    }
  }

  /** Copies a folder with all below it. */
  static void copy(Path from, Path to) throws IOException {
    try (var files = Files.walk(from)) {
      for (var file : (Iterable<Path>) files::iterator) {
        Files.copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }

  @Override
  public void close() throws InterruptedException {
    var all = new ArrayList<>(process.toHandle().descendants().toList());
    all.add(process.toHandle());
    all.forEach(ProcessHandle::destroy);
    if (!process.waitFor(20, TimeUnit.SECONDS)) {
      all.forEach(ProcessHandle::destroyForcibly);
    }
  }
}
