package io.dynamo.router.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Mooncake's own programs, each in a process of its own. They come from the Python environment that
 * {@code -Ddynamo.it.mooncake} names: {@code bin/mooncake_master}, built with its publisher of
 * events, and {@code bin/python} with {@code mooncake.store}; shared libraries that the machine
 * lacks may be in {@code lib}. {@link #close} leaves no process.
 */
final class MooncakePeer implements AutoCloseable {
  private static final String PROPERTY = "dynamo.it.mooncake";
  private static final Duration PATIENCE = Duration.ofSeconds(40); // Python starts slowly

  private final Path console;
  private final Process process;
  private final BufferedReader answers;

  private MooncakePeer(Path console, Process process) {
    this.console = console;
    this.process = process;
    this.answers = process.inputReader(StandardCharsets.UTF_8);
  }

  /** Skips the test when there is no such environment. */
  static void assumeThere() {
    var folder = System.getProperty(PROPERTY, "skip");
    assumeTrue(
        !folder.isEmpty() && !folder.equals("skip"),
        "left out: -D" + PROPERTY + " names no environment with Mooncake");
  }

  static int freePort() throws IOException {
    try (var socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** Starts a master that publishes at {@code events}; returns at once. */
  static MooncakePeer master(Path folder, int port, int events) throws IOException {
    return start(
        folder,
        "bin/mooncake_master",
        "--rpc_port=" + port,
        "--rpc_address=127.0.0.1",
        "--metrics_port=" + freePort(),
        "--enable_kv_events=true",
        "--kv_events_bind_endpoint=tcp://127.0.0.1:" + events,
        "--kv_events_backend_id=pool");
  }

  /** Starts a client of the master at {@code port}; returns when it is connected. */
  static MooncakePeer client(Path folder, int port) throws Exception {
    var client =
        start(folder, "bin/python", "src/test/python/mooncake_client.py", Integer.toString(port));
    assertThat(client.answer("READY")).isEqualTo("READY");
    return client;
  }

  private static MooncakePeer start(Path folder, String program, String... arguments)
      throws IOException {
    var environment = Path.of(System.getProperty(PROPERTY));
    var command = new ArrayList<String>();
    command.add(environment.resolve(program).toString());
    command.addAll(List.of(arguments));
    var console = Files.createTempFile(folder, "mooncake", ".log");
    var builder = new ProcessBuilder(command).redirectError(console.toFile());
    builder.environment().put("LD_LIBRARY_PATH", environment.resolve("lib").toString());
    return new MooncakePeer(console, builder.start());
  }

  /** Sends a command to the client and waits until it is done. */
  void tell(String what, String key) throws Exception {
    var input = process.getOutputStream();
    input.write((what + " " + key + "\n").getBytes(StandardCharsets.UTF_8));
    input.flush();
    assertThat(answer("DONE")).as(Files.readString(console)).startsWith("DONE " + what);
  }

  /** Returns the next line that begins with {@code begin}; its libraries print others. */
  private String answer(String begin) throws Exception {
    var line =
        CompletableFuture.supplyAsync(
            () ->
                answers
                    .lines()
                    .filter(it -> it.startsWith(begin))
                    .findFirst()
                    .orElse("it has ended"),
            task -> Thread.ofVirtual().start(task));
    return line.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS).join();
  }
}
