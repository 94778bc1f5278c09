package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * llama.cpp's own server with the model that ships with ours, at a port of its own. It runs in the
 * Python environment that {@code -Ddynamo.it.peer} names; its tests are left out without the
 * property. A worker starts it by its command.
 *
 * @param port where it listens on loopback
 * @param slots generations that it runs at once
 */
record LlamaServer(int port, int slots) {
  private static final Path SCRIPTS = Path.of("../worker-war/src/test/python");
  private static final Path WORK = Path.of(System.getProperty("dynamo.it.work"));
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Duration LIMIT = Duration.ofSeconds(10);

  /** Reserves a port. */
  static LlamaServer atFreePort(int slots) throws IOException {
    return new LlamaServer(ServerProcess.freePort(), slots);
  }

  private static String python() {
    var environment = System.getProperty("dynamo.it.peer", "");
    assumeFalse(
        environment.isEmpty() || environment.equals("skip"),
        "left out: -Ddynamo.it.peer names no Python environment with xllamacpp; .ci/test makes"
            + " one");
    return Path.of(environment, "bin/python").toString();
  }

  /** Returns the model as a GGUF file, which the first call writes. */
  private static synchronized Path model() throws IOException, InterruptedException {
    var file = WORK.resolve("tiny.gguf").toAbsolutePath();
    if (!Files.exists(file)) {
      Files.createDirectories(WORK);
      var written = file.resolveSibling("tiny.gguf.new");
      var made =
          new ProcessBuilder(
                  python(),
                  SCRIPTS.resolve("gguf_of.py").toString(),
                  PeerProcess.model().toString(),
                  written.toString())
              .inheritIO()
              .start();
      assertThat(made.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(made.exitValue()).isZero();
      Files.move(written, file);
    }
    return file;
  }

  /** Returns the command that starts it, for {@code dynamo.worker.process.command}. */
  String command() throws IOException, InterruptedException {
    var script = SCRIPTS.resolve("llama_server.py").toAbsolutePath().normalize();
    return "'%s' '%s' '%s' %d %d keep".formatted(python(), script, model(), slots, port);
  }

  /**
   * Returns the command that starts one that embeds and does not generate.
   *
   * @param pooling {@code last} or {@code mean}
   */
  String embedderCommand(String pooling) throws IOException, InterruptedException {
    return command() + " " + pooling;
  }

  String address() {
    return "http://127.0.0.1:" + port;
  }

  /** Returns its process among those that {@code worker} started. */
  ProcessHandle process(ServerProcess worker) {
    return worker
        .java()
        .descendants()
        .filter(
            process ->
                process.info().command().orElse("").contains("python")
                    && process.info().commandLine().orElse("").contains(" " + port + " keep"))
        .findAny()
        .orElseThrow(() -> new AssertionError("the worker has no server at port " + port));
  }

  private HttpResponse<String> ask(String path) throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(address() + path)).timeout(LIMIT).build();
    return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private String get(String path) throws IOException, InterruptedException {
    var answer = ask(path);
    assertThat(answer.statusCode()).as(path).isEqualTo(200);
    return answer.body();
  }

  /** Whether it has loaded its model. Fails with an exception while nothing listens. */
  boolean isReady() throws IOException, InterruptedException {
    return ask("/health").statusCode() == 200;
  }

  /** Returns how many generations it computes now. */
  int busySlots() throws IOException, InterruptedException {
    int busy = 0;
    for (var slot : JSON.readTree(get("/slots"))) {
      busy += slot.get("is_processing").asBoolean() ? 1 : 0;
    }
    return busy;
  }
}
