package io.dynamo.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * A Liberty server in a process of its own: the installation of the build, user folder, ports and
 * logs of its own, the packaged EAR. Owned by one test thread; {@link #close} leaves no process.
 */
final class ServerProcess implements AutoCloseable {
  private static final Path WLP = Path.of(System.getProperty("dynamo.it.wlp"));
  private static final Path CONFIG = Path.of(System.getProperty("dynamo.it.config"));
  private static final Path EAR = Path.of(System.getProperty("dynamo.it.ear"));
  private static final Path WORK = Path.of(System.getProperty("dynamo.it.work"));
  private static final Duration START = Duration.ofMinutes(4); // of three at once on a busy machine
  private static final Duration ASK_AGAIN = Duration.ofMillis(100); // while it starts
  private static final Duration STOP = Duration.ofSeconds(45); // Liberty quiesces for up to 30 s
  private static final HttpClient HTTP = client().build();
  private static final int FIRST_PORT = 18_000; // to 32,000: ephemeral ports begin at 32,768
  private static final int PORTS = 14_000;
  private static final AtomicInteger NEXT_PORT =
      new AtomicInteger(ThreadLocalRandom.current().nextInt(PORTS));

  private final String name;
  private final int port;
  private final @Nullable SSLContext tls;
  private final HttpClient http;
  private final Path folder;
  private final Path console;
  private final Process process;
  private boolean stopping;

  private ServerProcess(Plan plan, int port, Path folder, Path console, Process process) {
    this.name = plan.name();
    this.port = port;
    this.tls = plan.tls();
    this.http = tls == null ? HTTP : client().sslContext(tls).build();
    this.folder = folder;
    this.console = console;
    this.process = process;
  }

  private static HttpClient.Builder client() {
    return HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2));
  }

  /**
   * The settings that a server is started with. Immutable.
   *
   * @param jvm more arguments of its JVM
   * @param properties the operator's file; null for none
   * @param at where the settings have it listen; null gives it a free port
   * @param prepared whether it finds what an earlier start of such a server has worked out
   * @param tls what to speak to it with; null speaks in the clear
   */
  record Plan(
      String name,
      Map<String, String> environment,
      List<String> jvm,
      @Nullable String properties,
      @Nullable Integer at,
      boolean prepared,
      @Nullable SSLContext tls) {
    private static final List<String> SMALL = List.of("-Xmx512m");

    /**
     * Short lives: half of the processor time of a start would go to code that is optimized too
     * late to be of use.
     */
    private static final String QUICK = "-XX:TieredStopAtLevel=1";

    Plan {
      environment = Map.copyOf(environment);
      jvm = List.copyOf(jvm);
    }

    /** A server that plays all roles. */
    static Plan named(String name) {
      return new Plan(name, Map.of(), SMALL, null, null, true, null);
    }

    /**
     * @param roles as in {@code dynamo.roles}
     */
    Plan roles(String roles) {
      return with("DYNAMO_ROLES", roles);
    }

    Plan with(String variable, String value) {
      var more = new LinkedHashMap<>(environment);
      more.put(variable, value);
      return new Plan(name, more, jvm, properties, at, prepared, tls);
    }

    /** More arguments of the server's JVM. */
    Plan jvm(String... arguments) {
      var more = Stream.concat(jvm.stream(), Stream.of(arguments)).toList();
      return new Plan(name, environment, more, properties, at, prepared, tls);
    }

    /** A server with these lines in {@code microprofile-config.properties}. */
    Plan properties(String text) {
      return new Plan(name, environment, jvm, text, at, prepared, tls);
    }

    /** A server that listens on {@code port} by its own settings. */
    Plan at(int port) {
      return new Plan(name, environment, jvm, properties, port, prepared, tls);
    }

    /** A server that starts for the first time, as after its installation. */
    Plan fresh() {
      return new Plan(name, environment, jvm, properties, at, false, tls);
    }

    /** A server that is spoken to with {@code client}. */
    Plan over(SSLContext client) {
      return new Plan(name, environment, jvm, properties, at, prepared, client);
    }

    /** The engine that computes lives on optimized code; all others are quick to start. */
    private String jvmArguments() {
      var arguments = String.join(" ", jvm);
      return "llama".equals(environment.get("DYNAMO_WORKER_ENGINE"))
          ? arguments
          : arguments + " " + QUICK;
    }

    /** Starts it; the caller closes it. Returns before it is ready. */
    ServerProcess start() {
      try {
        return ServerProcess.start(this);
      } catch (IOException failed) {
        throw new UncheckedIOException("server " + name + " does not start", failed);
      }
    }
  }

  private static ServerProcess start(Plan plan) throws IOException {
    var user = WORK.resolve(plan.name());
    deleteTree(user);
    var folder = user.resolve("servers").resolve(plan.name());
    copyTree(CONFIG, folder);
    Files.createDirectories(folder.resolve("apps"));
    Files.copy(EAR, folder.resolve("apps/dynamo.ear"), StandardCopyOption.REPLACE_EXISTING);
    var arguments = plan.jvmArguments();
    if (plan.prepared()) {
      var prepared = PreparedServer.find();
      prepared.copyTo(folder);
      arguments += " " + String.join(" ", prepared.jvmArguments());
    }
    var properties = plan.properties();
    if (properties != null) {
      Files.writeString(folder.resolve("microprofile-config.properties"), properties);
    }
    var at = plan.at();
    int port = at == null ? freePort() : at;
    var console = user.resolve("console.log");
    var builder = new ProcessBuilder(WLP.resolve("bin/server").toString(), "run", plan.name());
    var environment = builder.environment();
    environment.keySet().removeIf(key -> key.startsWith("DYN_") || key.startsWith("DYNAMO_"));
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    environment.put("WLP_USER_DIR", user.toString());
    if (at == null) {
      environment.put("DYN_HTTP_PORT", Integer.toString(port));
    }
    environment.put("JVM_ARGS", arguments);
    environment.put("WLP_SKIP_BOOTSTRAP_AGENT", "true"); // as bin/dynamo; the archive needs it
    environment.put("DYNAMO_FRONTEND_WARM_UP", "0s"); // its lives are short
    environment.put("DYNAMO_WORKER_ENGINE", "mock"); // whose tokens a test can work out
    environment.putAll(plan.environment());
    builder.redirectErrorStream(true).redirectOutput(console.toFile());
    return new ServerProcess(plan, port, folder, console, builder.start());
  }

  /** Waits until {@code /health/ready} says yes. A server that never will is ended. */
  ServerProcess awaitReady() {
    try {
      poll();
    } catch (RuntimeException | Error never) {
      dumpThreads();
      close();
      throw never;
    }
    return this;
  }

  /** Leaves {@code threads.txt} beside the server's console, where a server hangs in its start. */
  private void dumpThreads() {
    if (process.isAlive()) {
      try {
        Files.writeString(
            console.resolveSibling("threads.txt"), JvmCensus.jcmd(java().pid(), "Thread.print -l"));
      } catch (IOException e) {
        throw new UncheckedIOException("the threads of " + name + " cannot be read", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void poll() {
    Polling.until(
        name + " ready",
        START,
        ASK_AGAIN,
        () -> {
          if (!process.isAlive()) {
            throw new AssertionError( // no reason to ask again
                name + " exited with " + process.exitValue() + "\n" + console());
          }
          return get("/health/ready").statusCode() == 200;
        });
  }

  URI uri(String path) {
    return URI.create((tls == null ? "http" : "https") + "://127.0.0.1:" + port + path);
  }

  int port() {
    return port;
  }

  /** The server's own folder: {@code server.xml}, {@code apps}, {@code logs}. */
  Path folder() {
    return folder;
  }

  /** Sends a chat completion request and returns without waiting for the answer. */
  ChatClient chat(String body) throws IOException {
    return ChatClient.post(port, tls, body);
  }

  HttpResponse<String> get(String path) throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(uri(path)).timeout(Duration.ofSeconds(10)).build();
    return http.send(request, HttpResponse.BodyHandlers.ofString());
  }

  /**
   * Sends JSON and waits for the whole answer.
   *
   * @param headers names and values in turn
   */
  HttpResponse<String> post(String path, String json, String... headers)
      throws IOException, InterruptedException {
    return post(path, HttpRequest.BodyPublishers.ofString(json), headers);
  }

  /** The same of a body in another form. */
  HttpResponse<String> post(String path, HttpRequest.BodyPublisher json, String... headers)
      throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(uri(path))
            .timeout(Duration.ofSeconds(60))
            .header("content-type", "application/json")
            .POST(json);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Returns the server's output so far. */
  String console() {
    return read(console);
  }

  /** Returns the server's log so far. */
  String messages() {
    return read(folder.resolve("logs/messages.log"));
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** The server's Java process, also where the start script stands before it. */
  ProcessHandle java() {
    return Stream.concat(Stream.of(process.toHandle()), process.descendants())
        .filter(each -> each.info().command().orElse("").endsWith("/java"))
        .findFirst()
        .orElse(process.toHandle());
  }

  /** {@code kill -9}: no shutdown hook, no farewell. */
  void kill() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    process.onExit().orTimeout(10, TimeUnit.SECONDS).join();
  }

  /** {@code SIGSTOP}: it hangs with all its connections open, until {@link #resume}. */
  void pause() throws IOException {
    signal("STOP");
  }

  void resume() throws IOException {
    signal("CONT");
  }

  private void signal(String name) throws IOException {
    var sent = new ProcessBuilder("kill", "-" + name, Long.toString(java().pid())).start();
    sent.onExit().orTimeout(10, TimeUnit.SECONDS).join();
    if (sent.exitValue() != 0) {
      throw new IOException("SIG" + name + " could not be sent to " + this.name);
    }
  }

  /** {@code SIGTERM}; returns at once. */
  void terminate() {
    stopping = true;
    java().destroy();
  }

  /** Waits for the end that {@link #terminate} asked for, or that of a start which fails. */
  void awaitExit() {
    awaitExit(stopping ? STOP : START);
  }

  /** The same, of a server that has more to do than to stop. */
  void awaitExit(Duration patience) {
    process.onExit().orTimeout(patience.toSeconds(), TimeUnit.SECONDS).join();
  }

  /** Of a server that has ended. */
  int exitStatus() {
    return process.exitValue();
  }

  @Override
  public void close() {
    if (process.isAlive()) {
      kill();
    }
  }

  /**
   * A port that is free now and that the system gives to nobody else: it lies below those that
   * connections and port 0 are served from, and is not returned twice.
   */
  static int freePort() throws IOException {
    for (int tries = 0; tries < PORTS; tries++) {
      int port = FIRST_PORT + Math.floorMod(NEXT_PORT.getAndIncrement(), PORTS);
      try (var socket = new ServerSocket()) {
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1);
        return port;
      } catch (BindException _) {
        // taken; the next one may be free
      }
    }
    throw new IOException("no free port from %d on".formatted(FIRST_PORT));
  }

  private static String read(Path file) {
    try {
      return Files.exists(file) ? Files.readString(file) : "";
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  static void copyTree(Path from, Path to) throws IOException {
    try (var files = Files.walk(from)) {
      for (var file : files.toList()) {
        var target = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else {
          Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  private static void deleteTree(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure)
              throws IOException {
            Files.delete(visited);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
