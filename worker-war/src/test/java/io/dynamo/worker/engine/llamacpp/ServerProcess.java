package io.dynamo.worker.engine.llamacpp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.dynamo.worker.engine.llama.TinyModel;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Runs llama.cpp's own server with the model that ships with the project, in a process of its own.
 * It runs in the Python environment that {@code -Ddynamo.it.peer} names. {@link #close} leaves no
 * process.
 */
public final class ServerProcess implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Pattern READY = Pattern.compile("^ready (http://\\S+)$", Pattern.MULTILINE);

  private final Process process;
  private final URI address;

  private ServerProcess(Process process, URI address) {
    this.process = process;
    this.address = address;
  }

  /**
   * @param folder holds the model file and the console output
   */
  public static ServerProcess start(Path folder, int slots)
      throws IOException, InterruptedException {
    return start(folder, slots, List.of());
  }

  /**
   * Starts one that embeds and does not generate.
   *
   * @param pooling {@code last} or {@code mean}
   */
  public static ServerProcess embedder(Path folder, String pooling)
      throws IOException, InterruptedException {
    return start(folder, 2, List.of("0", "-", pooling));
  }

  private static ServerProcess start(Path folder, int slots, List<String> options)
      throws IOException, InterruptedException {
    var environment = System.getProperty("dynamo.it.peer", "skip");
    assumeFalse(
        environment.equals("skip"),
        "left out: -Ddynamo.it.peer names no Python environment with xllamacpp");
    var python = Path.of(environment, "bin/python").toString();
    var model = folder.resolve("tiny.gguf").toString();
    var made = begin(folder, python, script("gguf_of.py"), TinyModel.DIRECTORY.toString(), model);
    assertThat(made.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(made.exitValue()).as(() -> said(folder)).isZero();
    var console = folder.resolve("console");
    var command =
        new ArrayList<>(List.of(python, script("llama_server.py"), model, Integer.toString(slots)));
    command.addAll(options);
    var process = begin(folder, command.toArray(String[]::new));
    long begun = System.nanoTime();
    while (System.nanoTime() - begun < PATIENCE.toNanos() && process.isAlive()) {
      var ready = READY.matcher(Files.readString(console));
      if (ready.find()) {
        return new ServerProcess(process, URI.create(ready.group(1)));
      }
      process.waitFor(20, TimeUnit.MILLISECONDS);
    }
    process.destroyForcibly();
    throw new AssertionError("llama.cpp's server does not start: " + said(folder));
  }

  private static String script(String name) {
    return Path.of("src/test/python", name).toString();
  }

  private static Process begin(Path folder, String... command) throws IOException {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("console").toFile())
        .start();
  }

  private static String said(Path folder) {
    try {
      return Files.readString(folder.resolve("console"));
    } catch (IOException e) {
      return e.toString();
    }
  }

  public URI address() {
    return address;
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
  }
}
