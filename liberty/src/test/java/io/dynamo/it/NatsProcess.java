package io.dynamo.it;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A {@code nats-server} process on a port of loopback. Its tests are left out where it is not
 * installed; {@code .ci/test} installs it.
 */
final class NatsProcess implements AutoCloseable {
  private static final Path WORK = Path.of(System.getProperty("dynamo.it.work"));

  private final Process process;
  private final int port;

  private NatsProcess(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /** Starts a server that stores events below {@code folder}. */
  static NatsProcess startWithJetStream(String name, Path folder) throws IOException {
    return start(name, "-js", "-sd", folder.toString());
  }

  /**
   * Starts a server; returns when it accepts connections.
   *
   * @param more arguments
   */
  static NatsProcess start(String name, String... more) throws IOException {
    var binary =
        Stream.of("/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/usr/bin/nats-server")
            .map(Path::of)
            .filter(Files::isExecutable)
            .findFirst();
    assumeTrue(binary.isPresent(), "left out: nats-server is not installed; .ci/test installs it");
    int port = ServerProcess.freePort();
    var console = Files.createDirectories(WORK).resolve(name + ".log");
    var command =
        new ArrayList<>(
            List.of(
                binary.orElseThrow().toString(), "-a", "127.0.0.1", "-p", Integer.toString(port)));
    command.addAll(List.of(more));
    var process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(console.toFile())
            .start();
    Polling.until(
        name + " is ready",
        Duration.ofSeconds(20),
        () -> Files.readString(console).contains("Server is ready"));
    return new NatsProcess(process, port);
  }

  /** The address of the server, {@code nats://127.0.0.1:port}. */
  String url() {
    return "nats://127.0.0.1:" + port;
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().orTimeout(10, TimeUnit.SECONDS).join();
  }
}
