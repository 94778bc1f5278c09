package io.dynamo.transfer.jni;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A process with NVIDIA's {@code dynamo.nixl_connect}. Owned by one test thread. */
final class NixlPeer implements AutoCloseable {
  private static final Duration ANSWER = Duration.ofMinutes(2);

  private final Process process;
  private final BufferedReader answers;
  private final Path log;

  private NixlPeer(Process process, Path log) {
    this.process = process;
    this.answers = process.inputReader(StandardCharsets.UTF_8);
    this.log = log;
  }

  /** Whether {@code -Ddynamo.it.peer} names a Python environment. */
  static boolean isConfigured() {
    var folder = System.getProperty("dynamo.it.peer", "");
    return !folder.isEmpty() && !folder.equals("skip");
  }

  /** Returns where the environment has its packages, that of NIXL among them. */
  static Path packages() throws IOException {
    var lib = Path.of(System.getProperty("dynamo.it.peer"), "lib");
    try (var pythons = Files.newDirectoryStream(lib, "python3*")) {
      return pythons.iterator().next().resolve("site-packages");
    }
  }

  static NixlPeer start(String name, Path folder) throws IOException {
    var script = folder.resolve("nixl_peer.py");
    try (var source = NixlPeer.class.getResourceAsStream("nixl_peer.py")) {
      Files.write(script, requireNonNull(source).readAllBytes());
    }
    var log = folder.resolve(name + ".log");
    var process =
        new ProcessBuilder(
                System.getProperty("dynamo.it.peer") + "/bin/python", script.toString(), name)
            .redirectError(log.toFile())
            .start();
    return new NixlPeer(process, log);
  }

  /** Asks for something that has to succeed. */
  JsonObject ask(Object... members) throws IOException {
    var answer = answer(members);
    assertThat(answer.optionalText("error")).as(() -> tail(log)).isNull();
    return answer;
  }

  /** Asks for something, and returns also an answer that names an error. */
  JsonObject answer(Object... members) throws IOException {
    send(members);
    return next();
  }

  /** Asks for something whose answer comes later. */
  void send(Object... members) throws IOException {
    var line = new String(Json.write(JsonObject.ordered(members)), StandardCharsets.UTF_8);
    process.outputWriter(StandardCharsets.UTF_8).append(line).append('\n').flush();
  }

  JsonObject next() throws IOException {
    var line = CompletableFuture.supplyAsync(this::readLine);
    try {
      var text = line.get(ANSWER.toMillis(), TimeUnit.MILLISECONDS);
      assertThat(text).as(() -> tail(log)).isNotNull();
      return Json.readObject(requireNonNull(text).getBytes(StandardCharsets.UTF_8));
    } catch (TimeoutException e) {
      throw new AssertionError("no answer: " + tail(log), e);
    } catch (InterruptedException | ExecutionException e) {
      throw new IOException(tail(log), e);
    }
  }

  private @Nullable String readLine() {
    try {
      return answers.readLine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends the process as a crash does. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  /** Stops the process without ending it, or lets it go on. */
  void signal(String name) throws IOException, InterruptedException {
    var command = new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).start();
    assertThat(command.waitFor()).isZero();
  }

  private static String tail(Path log) {
    try {
      var text = Files.readString(log);
      return text.substring(Math.max(0, text.length() - 4000));
    } catch (IOException e) {
      return "no log: " + e;
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
