package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * A shell in which documented commands run as a reader types them, in an empty folder. Ports and
 * folders that the pages name are replaced by those of the test; a command that would start a
 * server in the foreground returns when the server is ready. {@link #close} ends all that was
 * started. Owned by one test thread.
 */
final class DocumentShell implements AutoCloseable {
  private static final int LIMIT_SECONDS = 300;
  private static final String[] COMMANDS = {
    "curl", "mvn", "dynamo", "python", "llama-server", "nats-server"
  };

  private final Path folder;
  private final Map<String, String> replacements = new LinkedHashMap<>();
  private final Map<String, String> environment = new LinkedHashMap<>();

  /**
   * @param folder empty
   */
  DocumentShell(Path folder) throws IOException {
    this.folder = folder;
    var commands = Files.createDirectories(folder.resolve("commands"));
    for (var command : COMMANDS) {
      write(commands.resolve(command), "documents/" + command);
    }
    write(commands.resolve("in-background"), "documents/in-background");
    environment.put("PATH", commands + ":" + System.getenv("PATH"));
    environment.put("DOC_COMMANDS", commands.toString());
    environment.put("DOC_WORK", folder.toString());
    environment.put("DOC_PYTHON", System.getProperty("dynamo.it.peer", "skip") + "/bin/python");
    environment.put("JAVA_HOME", System.getProperty("java.home"));
  }

  private static void write(Path target, String resource) throws IOException {
    try (InputStream source = DocumentShell.class.getResourceAsStream(resource)) {
      Files.copy(Objects.requireNonNull(source, resource), target);
    }
    Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Has commands use {@code actual} where a page says {@code documented}. */
  DocumentShell replace(String documented, String actual) {
    replacements.put(documented, actual);
    return this;
  }

  /** The same for a port of loopback. */
  DocumentShell replacePort(int documented, int actual) {
    return replace(":" + documented, ":" + actual)
        .replace("PORT=" + documented, "PORT=" + actual)
        .replace("port " + documented, "port " + actual);
  }

  DocumentShell with(String variable, String value) {
    environment.put(variable, value);
    return this;
  }

  /** Runs a block to its end, and holds its output against what the page says of it. */
  void run(DocumentedBlock block) throws IOException, InterruptedException {
    var text = block.text();
    for (var replacement : replacements.entrySet()) {
      text = text.replace(replacement.getKey(), replacement.getValue());
    }
    var script = folder.resolve(block.isPython() ? "block.py" : "block.sh");
    Files.writeString(script, text);
    var output = folder.resolve("output.log");
    var command =
        block.isPython()
            ? new ProcessBuilder(folder.resolve("commands/python").toString(), script.toString())
            : new ProcessBuilder("bash", "-e", "-o", "pipefail", script.toString());
    command.environment().keySet().removeIf(name -> name.startsWith("DYN"));
    command.environment().putAll(environment);
    var process =
        command
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    process.getOutputStream().close();
    boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
    process.destroyForcibly();
    var printed = Files.readString(output);
    assertThat(ended).as("%s ends: %s", block.place(), printed).isTrue();
    assertThat(process.exitValue()).as("%s: %s", block.place(), printed).isZero();
    if (!block.expected().isEmpty()) {
      assertThat(printed).as(block.place()).containsSubsequence(block.expected());
    }
  }

  /** Waits until every server that was started is ready. */
  void awaitReady() throws IOException, InterruptedException {
    var process =
        new ProcessBuilder(folder.resolve("commands/in-background").toString(), "--await-all")
            .redirectErrorStream(true);
    process.environment().putAll(environment);
    var waiting = process.start();
    var printed = new String(waiting.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(waiting.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(waiting.exitValue()).as(printed).isZero();
  }

  @Override
  public void close() throws IOException {
    var started = folder.resolve("started");
    if (!Files.exists(started)) {
      return;
    }
    for (var line : Files.readAllLines(started)) {
      var group = line.substring(0, line.indexOf(' '));
      var kill = new ProcessBuilder("kill", "-9", "--", "-" + group).start();
      kill.onExit().orTimeout(10, TimeUnit.SECONDS).join();
    }
  }
}
