package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * NVIDIA Dynamo's own frontend or mocker, as its packages ship it, in a process of its own. It
 * comes from the Python environment that {@code -Ddynamo.it.peer} names; its tests are left out
 * without the property. Owned by one test thread; {@link #close} leaves no process.
 */
final class PeerProcess implements AutoCloseable {
  private static final Path WORK = Path.of(System.getProperty("dynamo.it.work"));
  private static final Path MODELS =
      Path.of(System.getProperty("dynamo.it.config"))
          .resolve("models")
          .toAbsolutePath()
          .normalize();
  private static final Duration START = Duration.ofMinutes(3);
  private static final Duration STOP = Duration.ofSeconds(15);
  private static final HttpClient HTTP =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

  private final String name;
  private final int port;
  private final Path console;
  private final Process process;

  private PeerProcess(String name, int port, Path console, Process process) {
    this.name = name;
    this.port = port;
    this.console = console;
    this.process = process;
  }

  /**
   * Dynamo's frontend; returns when it answers.
   *
   * @param store the folder of file discovery
   */
  static PeerProcess frontend(String name, Path store, String... arguments) throws IOException {
    return frontend(name, store, Map.of(), arguments);
  }

  static PeerProcess frontend(
      String name, Path store, Map<String, String> environment, String... arguments)
      throws IOException {
    int port = ServerProcess.freePort();
    var command =
        new ArrayList<>(List.of("-m", "dynamo.frontend", "--http-port", Integer.toString(port)));
    command.addAll(List.of(arguments));
    var peer = start(name, store, port, command, environment);
    Polling.until(name + " answers", START, () -> peer.get("/health").statusCode() > 0);
    return peer;
  }

  /**
   * Dynamo's mocker serving the model that ships with our server; returns at once. {@link #port} is
   * its status server's.
   */
  static PeerProcess mocker(String name, Path store, String... arguments) throws IOException {
    return mocker(name, store, Map.of(), arguments);
  }

  static PeerProcess mocker(
      String name, Path store, Map<String, String> environment, String... arguments)
      throws IOException {
    int port = lowPort();
    var command = mocking(arguments);
    var all = new HashMap<>(environment);
    all.put("DYN_SYSTEM_PORT", Integer.toString(port));
    return start(name, store, port, command, all);
  }

  /**
   * Dynamo's vLLM worker on the CPU, serving the model that ships with our server; returns at once.
   * It comes from the environment that {@code -Ddynamo.it.vllm.peer} names. {@link #port} is its
   * status server's.
   */
  static PeerProcess vllm(String name, Path store) throws IOException {
    int port = lowPort();
    int events = ServerProcess.freePort();
    var command =
        List.of(
            "-m",
            "dynamo.vllm",
            "--model",
            model().toString(),
            "--served-model-name",
            Cluster.MODEL,
            "--dtype",
            "float32",
            "--max-model-len",
            "4096",
            "--block-size",
            "32",
            "--max-num-seqs",
            "16",
            "--enforce-eager",
            "--enable-prefix-caching",
            "--dyn-tool-call-parser",
            "hermes",
            "--kv-events-config",
            "{\"enable_kv_cache_events\":true,\"publisher\":\"zmq\",\"endpoint\":\"tcp://*:%d\",\"topic\":\"kv-events\"}"
                .formatted(events));
    var environment =
        Map.of(
            "DYN_SYSTEM_PORT", Integer.toString(port),
            "VLLM_CPU_KVCACHE_SPACE", "1",
            "VLLM_CPU_OMP_THREADS_BIND", "nobind",
            "OMP_NUM_THREADS", "1",
            "VLLM_NO_USAGE_STATS", "1",
            "PYTHONHASHSEED", "0");
    var python = Path.of(System.getProperty("dynamo.it.vllm.peer"), "bin/python");
    return start(name, store, port, python, command, environment);
  }

  /** A program of ours on Dynamo's own runtime, from this package's resources; returns at once. */
  static PeerProcess script(String name, Path store, String program, String... arguments)
      throws IOException {
    var script = Files.createDirectories(WORK).resolve(name + ".py");
    try (var source = PeerProcess.class.getResourceAsStream(program)) {
      Files.write(script, Objects.requireNonNull(source, program).readAllBytes());
    }
    var command = new ArrayList<>(List.of(script.toString()));
    command.addAll(List.of(arguments));
    return start(name, store, 0, command, Map.of());
  }

  /** The same without a status server: its card names local files and no others. */
  static PeerProcess plainMocker(
      String name, Path store, Map<String, String> environment, String... arguments)
      throws IOException {
    return start(name, store, 0, mocking(arguments), environment);
  }

  private static List<String> mocking(String... arguments) {
    var command =
        new ArrayList<>(
            List.of(
                "-m",
                "dynamo.mocker",
                "--model-path",
                model().toString(),
                "--model-name",
                Cluster.MODEL));
    command.addAll(List.of(arguments));
    return command;
  }

  private static int lowPort() throws IOException { // it reads 16 bits with a sign
    int port = ServerProcess.freePort();
    while (port > Short.MAX_VALUE) {
      port = 20_000 + (port * 31 + 7) % 12_000;
      try (var probe = new ServerSocket(port)) {
        return probe.getLocalPort();
      } catch (IOException taken) {
        port = ServerProcess.freePort();
      }
    }
    return port;
  }

  private static PeerProcess start(
      String name, Path store, int port, List<String> arguments, Map<String, String> environment)
      throws IOException {
    return start(
        name, store, port, Path.of(environment()).resolve("bin/python"), arguments, environment);
  }

  private static PeerProcess start(
      String name,
      Path store,
      int port,
      Path python,
      List<String> arguments,
      Map<String, String> environment)
      throws IOException {
    Files.createDirectories(WORK);
    var console = WORK.resolve(name + ".log");
    var command = new ArrayList<String>();
    command.add(python.toString());
    command.addAll(arguments);
    var builder = new ProcessBuilder(command).directory(WORK.toFile());
    var variables = builder.environment();
    variables.keySet().removeIf(key -> key.startsWith("DYN_") || key.startsWith("DYNAMO_"));
    variables.put("DYN_DISCOVERY_BACKEND", "file");
    variables.put("DYN_FILE_KV", store.toString());
    variables.put("DYN_REQUEST_PLANE", "tcp");
    variables.put("DYN_EVENT_PLANE", "zmq");
    variables.put("DYN_TCP_RPC_HOST", "127.0.0.1");
    variables.put("DYN_EVENT_PLANE_HOST", "127.0.0.1");
    variables.put("HF_HUB_OFFLINE", "1");
    variables.put("DYN_SDK_DISABLE_ANSI_LOGGING", "1");
    variables.putAll(environment);
    builder.redirectErrorStream(true).redirectOutput(console.toFile());
    return new PeerProcess(name, port, console, builder.start());
  }

  /** The model that ships with our server. */
  static Path model() {
    return MODELS.resolve(Cluster.MODEL);
  }

  private static String environment() {
    var folder = System.getProperty("dynamo.it.peer", "");
    assumeFalse(
        folder.isEmpty() || folder.equals("skip"),
        "left out: -Ddynamo.it.peer names no Python environment with ai-dynamo; .ci/test makes"
            + " one");
    assertThat(Path.of(folder, "bin/python"))
        .as("-Ddynamo.it.peer=<Python environment with ai-dynamo>, or skip")
        .isExecutable();
    return folder;
  }

  /** Whether the packages of {@code -Ddynamo.it.peer} are of release 1.{@code minor} or later. */
  static boolean isAtLeast(int minor) throws IOException {
    try (var installed = Files.find(Path.of(environment(), "lib"), 4, PeerProcess::isPackages)) {
      var found = installed.map(it -> it.getFileName().toString()).toList();
      assertThat(found).as("releases of ai-dynamo in %s", environment()).hasSize(1);
      return Integer.parseInt(found.getFirst().replaceFirst("ai_dynamo-1\\.(\\d+).*", "$1"))
          >= minor;
    }
  }

  private static boolean isPackages(Path path, BasicFileAttributes attributes) {
    return path.getFileName().toString().matches("ai_dynamo-[0-9.]+\\.dist-info");
  }

  int port() {
    return port;
  }

  HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(uri(path)));
  }

  HttpResponse<String> post(String path, String json) throws IOException, InterruptedException {
    return send(
        HttpRequest.newBuilder(uri(path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json)));
  }

  private URI uri(String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }

  private HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    if (!process.isAlive()) {
      throw new IllegalStateException(name + " exited with " + process.exitValue() + console());
    }
    return HTTP.send(
        request.timeout(Duration.ofSeconds(30)).build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Whether the frontend lists the model. */
  boolean lists(String model) throws IOException, InterruptedException {
    return get("/v1/models").body().contains('"' + model + '"');
  }

  /**
   * The sum of all series of a metric; 0 when there is none.
   *
   * @param labels what a series' labels must contain, each as {@code key="value"}
   */
  long metric(String name, String... labels) throws IOException, InterruptedException {
    return Pattern.compile("(?m)^" + Pattern.quote(name) + "(\\{[^}]*})? ([0-9.Ee+]+)$")
        .matcher(get("/metrics").body())
        .results()
        .filter(series -> Stream.of(labels).allMatch(String.valueOf(series.group(1))::contains))
        .mapToLong(series -> Math.round(Double.parseDouble(series.group(2))))
        .sum();
  }

  /** Writes a line to its input. */
  void tell(String line) throws IOException {
    var input = process.getOutputStream();
    input.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    input.flush();
  }

  /** Returns the process's output so far. */
  String console() {
    try {
      return Files.readString(console);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** {@code SIGTERM}; returns at once. */
  void terminate() {
    process.destroy();
  }

  /** Fails with the process's output when it has ended. */
  void requireAlive() {
    if (!process.isAlive()) {
      throw new AssertionError(name + " exited with " + process.exitValue() + ": " + console());
    }
  }

  /** {@code kill -9}, of its children too. */
  void kill() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    process.onExit().orTimeout(10, TimeUnit.SECONDS).join();
  }

  /** {@code SIGSTOP}: it hangs with all its connections open, until it is killed. */
  void pause() throws IOException {
    var sent = new ProcessBuilder("kill", "-STOP", Long.toString(process.pid())).start();
    sent.onExit().orTimeout(10, TimeUnit.SECONDS).join();
    if (sent.exitValue() != 0) {
      throw new IOException("SIGSTOP could not be sent to " + name);
    }
  }

  @Override
  public void close() {
    process.destroy();
    try {
      process.onExit().get(STOP.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException stubborn) {
      kill();
    } catch (InterruptedException stopped) {
      kill();
      Thread.currentThread().interrupt();
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
