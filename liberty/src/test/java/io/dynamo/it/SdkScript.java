package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

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
 * @param command what runs the program; below the folder when it begins with a dot
 * @param modules what the program imports that is no part of the SDK
 */
record SdkScript(
    String property, String needed, String command, String program, List<String> modules) {
  static SdkScript node(String program) {
    return node(program, "openai");
  }

  /**
   * A program for Node.
   *
   * @param module the SDK's name
   */
  static SdkScript node(String program, String module) {
    return new SdkScript("dynamo.it.node", "node_modules/" + module, "node", program, List.of());
  }

  static SdkScript python(String program, String... modules) {
    return new SdkScript("dynamo.it.peer", "bin/python", "./bin/python", program, List.of(modules));
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
    words.add(command.startsWith("./") ? Path.of(sdk, command.substring(2)).toString() : command);
    words.addAll(List.of(script.toString(), server + "/v1", Cluster.MODEL));
    words.addAll(List.of(arguments));

    var process =
        new ProcessBuilder(words)
            .directory(Path.of(sdk).toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("ended in time").isTrue();
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
