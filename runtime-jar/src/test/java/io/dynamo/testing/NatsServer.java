package io.dynamo.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A {@code nats-server} process on a port of loopback. Tests are left out where it is not
 * installed; {@code .ci/test} installs it.
 */
public final class NatsServer implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Pattern COLON = Pattern.compile(":");
  private static final Pattern READY = Pattern.compile("Server is ready");

  /** Stands for the server's folder in its configuration. */
  private static final String FOLDER = "$FOLDER";

  private static @Nullable NatsServer shared; // guarded by the class

  private final Path folder;
  private final String configuration;
  private int port;
  private Process process;
  private int starts;

  private NatsServer(String configuration) throws IOException {
    this.configuration = configuration;
    folder = Files.createTempDirectory("nats-server");
    process = launchOnAFreePort();
  }

  /** The server of all tests of this JVM, which is killed with it; nobody else may stop it. */
  public static synchronized NatsServer shared() {
    var known = shared;
    if (known == null) {
      known = start("");
      Runtime.getRuntime().addShutdownHook(new Thread(known::close));
      shared = known;
    }
    return known;
  }

  /**
   * A server of its own.
   *
   * @param configuration lines of its configuration file
   */
  public static NatsServer start(String configuration) {
    try {
      return new NatsServer(configuration);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A server of its own that stores events; what is stored survives {@link #restart}. */
  public static NatsServer startWithJetStream() {
    return start("jetstream { store_dir: \"%s/jetstream\" }".formatted(FOLDER));
  }

  private Process launchOnAFreePort() throws IOException {
    for (int attempt = 1; ; attempt++) {
      port = FreePorts.next(1);
      try {
        return launch();
      } catch (IOException e) {
        if (attempt == FreePorts.ATTEMPTS
            || !String.valueOf(e.getMessage()).contains("address already in use")) {
          throw e;
        }
      }
    }
  }

  private Process launch() throws IOException {
    var file = folder.resolve("nats.conf");
    Files.writeString(
        file,
        "listen: \"127.0.0.1:%d\"%n%s%n"
            .formatted(port, configuration.replace(FOLDER, folder.toString())));
    var log = folder.resolve("log-" + starts++);
    var started =
        new ProcessBuilder(binary(), "-c", file.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    awaitReady(started, log);
    return started;
  }

  private void awaitReady(Process started, Path log) throws IOException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      var text = Files.readString(log, StandardCharsets.ISO_8859_1);
      if (READY.matcher(text).find()) {
        return;
      }
      if (!started.isAlive() || System.nanoTime() - end > 0) {
        started.destroyForcibly();
        throw new IOException("nats-server does not start: " + text);
      }
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
  }

  private static String binary() {
    var found =
        Stream.concat(
                COLON.splitAsStream(System.getenv("PATH")),
                Stream.of("/usr/sbin", "/usr/local/bin"))
            .map(folder -> Path.of(folder, "nats-server"))
            .filter(Files::isExecutable)
            .findFirst();
    assumeTrue(found.isPresent(), "left out: nats-server is not installed; .ci/test installs it");
    return found.orElseThrow().toString();
  }

  /** The address of the server, {@code nats://127.0.0.1:port}. */
  public String url() {
    return "nats://127.0.0.1:" + port;
  }

  public int port() {
    return port;
  }

  /** {@code kill -9}; returns when the process is gone. */
  public void kill() {
    process.destroyForcibly();
    process.onExit().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
  }

  /** Starts the killed server again on its port; returns when it accepts connections. */
  public void restart() {
    kill();
    try {
      process = launch();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    kill();
    try (var files = Files.walk(folder)) {
      for (var file : List.copyOf(files.toList()).reversed()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
