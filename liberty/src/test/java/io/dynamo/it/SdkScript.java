package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * A program that uses one of the vendors' SDKs, and exits with 0 when everything held.
 *
 * @param property names the folder that the SDK is in; the test is left out without it, and fails
 *     when the folder has no SDK
 * @param needed what the folder must have
 * @param command what runs the program; its first word is below the folder when it has a slash
 * @param modules what the program imports that is no part of the SDK
 */
record SdkScript(
    String property, String needed, List<String> command, String program, List<String> modules) {
  private static final String SOCKETS = "--experimental-websocket"; // what Node 20 and 21 need

  static SdkScript node(String program) {
    return node(program, "openai");
  }

  /**
   * A program for Node.
   *
   * @param module the SDK's name
   */
  static SdkScript node(String program, String module) {
    return new SdkScript(
        "dynamo.it.node", "node_modules/" + module, List.of("node"), program, List.of());
  }

  /** A program that uses Node's own WebSocket; the test is left out where Node has none. */
  static SdkScript nodeWithSockets(String program) throws InterruptedException {
    var node = List.of("node", SOCKETS);
    assumeTrue(
        runs(node, "-e", "WebSocket"), "left out: WebSocket needs Node 20.10 or later as node");
    return new SdkScript("dynamo.it.node", "node_modules/openai", node, program, List.of());
  }

  private static boolean runs(List<String> command, String... arguments)
      throws InterruptedException {
    var words = new ArrayList<>(command);
    words.addAll(List.of(arguments));
    var start =
        new ProcessBuilder(words)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD);
    Process process;
    try {
      process = start.start();
    } catch (IOException missing) {
      return false;
    }
    try {
      return process.waitFor(30, TimeUnit.SECONDS) && process.exitValue() == 0;
    } finally {
      process.destroyForcibly();
    }
  }

  static SdkScript python(String program, String... modules) {
    return new SdkScript(
        "dynamo.it.peer", "bin/python", List.of("bin/python"), program, List.of(modules));
  }

  /** Compares answers of the named models' workers with the description of the API. */
  static SdkScript describedWorkers() {
    return python("described_workers.py", "described_api.py");
  }

  /**
   * Runs it to its end.
   *
   * @param folder for the program and its output
   * @param server what it talks to
   */
  void run(Path folder, String server, String... arguments)
      throws IOException, InterruptedException {
    var sdk = System.getProperty(property, "");
    assumeFalse(
        sdk.isEmpty() || sdk.equals("skip"),
        "left out: -D%s names no folder with %s; .ci/test makes one".formatted(property, needed));
    assertThat(Path.of(sdk, needed))
        .as("-D%s=<folder with %s>, or skip", property, needed)
        .exists();
    for (var module : modules) {
      copy(module, folder);
    }
    var script = copy(program, folder);
    var log = folder.resolve("output.log");
    var words = new ArrayList<String>();
    var first = command.getFirst();
    words.add(first.contains("/") ? Path.of(sdk, first).toString() : first);
    words.addAll(command.subList(1, command.size()));
    words.addAll(List.of(script.toString(), server + "/v1", Cluster.MODEL));
    words.addAll(List.of(arguments));

    var process =
        new ProcessBuilder(words)
            .directory(Path.of(sdk).toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      assertThat(process.waitFor(5, TimeUnit.MINUTES)).as("ended in time").isTrue();
      assertThat(process.exitValue()).as(Files.readString(log)).isZero();
    } finally {
      process.destroyForcibly();
    }
  }

  private static Path copy(String name, Path folder) throws IOException {
    var copy = folder.resolve(name);
    try (InputStream source = SdkScript.class.getResourceAsStream(name)) {
      Files.copy(Objects.requireNonNull(source, name), copy);
    }
    return copy;
  }
}
