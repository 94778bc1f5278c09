package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * A program on NVIDIA Dynamo's own runtime, in a process of its own. It runs in the Python
 * environment that {@code -Ddynamo.it.peer} names. {@link #close} leaves no process.
 */
final class PeerRuntime implements AutoCloseable {
  /** Names the Python environment; {@code skip}, or nothing, leaves the tests out. */
  static final String PROPERTY = "dynamo.it.peer";

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Pattern LOG_LINE =
      Pattern.compile("\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z +[A-Z]+ ");

  private final Path console;
  private final Process process;

  private PeerRuntime(Path console, Process process) {
    this.console = console;
    this.process = process;
  }

  /**
   * @param script of {@code src/test/python}
   * @param folder of file discovery, and of the console
   */
  static PeerRuntime start(
      String script, Path folder, Map<String, String> environment, String... arguments)
      throws IOException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty(PROPERTY)).resolve("bin/python").toString());
    command.add(Path.of("src/test/python", script).toString());
    command.addAll(List.of(arguments));
    var console = Files.createTempFile(folder, script, ".log");
    var builder = new ProcessBuilder(command);
    var variables = builder.environment();
    variables.keySet().removeIf(key -> key.startsWith("DYN_") || key.startsWith("DYNAMO_"));
    variables.put("DYN_DISCOVERY_BACKEND", "file");
    variables.put("DYN_FILE_KV", folder.resolve("discovery").toString());
    variables.put("DYN_REQUEST_PLANE", "tcp");
    variables.put("DYN_EVENT_PLANE", "zmq");
    variables.put("DYN_TCP_RPC_HOST", "127.0.0.1");
    variables.put("DYN_TCP_RESPONSE_STREAM_HOST", "lo"); // a network interface
    variables.put("DYN_SDK_DISABLE_ANSI_LOGGING", "1");
    variables.putAll(environment);
    builder.redirectErrorStream(true).redirectOutput(console.toFile());
    return new PeerRuntime(console, builder.start());
  }

  /**
   * Waits for the end of a program that ends by itself, and returns what it printed. The runtime's
   * own log lines are left out: some warn of a discovery that ends with the program.
   */
  List<String> lines() throws IOException, InterruptedException {
    assertThat(process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS))
        .as("it ends; its console: %s", said())
        .isTrue();
    return Files.readAllLines(console).stream()
        .filter(line -> !LOG_LINE.matcher(line).lookingAt())
        .toList();
  }

  String said() throws IOException {
    return Files.readString(console);
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS).join();
  }
}
