package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * A server of an unpacked archive, started and ended by the commands that the pages name. Owned by
 * one test thread; {@link #close} leaves no process.
 */
final class ArchiveServer implements AutoCloseable {
  private static final Duration STOP = Duration.ofSeconds(60);
  private static final String START_SECONDS = "240";
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final InstalledArchive archive;
  private final String name;
  private final int port;
  private final Path console;
  private final Process process;

  private ArchiveServer(
      InstalledArchive archive, String name, int port, Path console, Process process) {
    this.archive = archive;
    this.name = name;
    this.port = port;
    this.console = console;
    this.process = process;
  }

  /**
   * Starts it; returns at once.
   *
   * @param more options of {@code dynamo serve}
   */
  static ArchiveServer start(
      InstalledArchive archive,
      String name,
      String roles,
      Map<String, String> environment,
      List<String> more)
      throws IOException {
    int port = ServerProcess.freePort();
    var arguments = new ArrayList<>(List.of("serve", "--name", name, "--roles", roles));
    arguments.addAll(List.of("--port", Integer.toString(port)));
    arguments.addAll(more);
    var work = Files.createDirectories(Path.of(System.getProperty("dynamo.it.work")));
    var console = work.resolve(name + ".log");
    var process = archive.start(console, environment, arguments.toArray(String[]::new));
    return new ArchiveServer(archive, name, port, console, process);
  }

  int port() {
    return port;
  }

  /**
   * Waits until it serves, as {@code dynamo ready --wait} says.
   *
   * @param commands the archive whose command line asks
   */
  ArchiveServer awaitReady(InstalledArchive commands) throws IOException, InterruptedException {
    var outcome =
        commands.dynamo(
            Map.of(), "ready", "--url", "http://127.0.0.1:" + port, "--wait", START_SECONDS);
    assertThat(outcome.status()).as("%s: %s%s", name, outcome.text(), console()).isZero();
    return this;
  }

  /** Has a worker end its streams and take no more, as {@code dynamo drain} does it. */
  void drain() throws IOException, InterruptedException {
    var outcome = archive.dynamo(Map.of(), "drain", "--url", "http://127.0.0.1:" + port);
    assertThat(outcome.status()).as("%s: %s", name, outcome.text()).isZero();
  }

  /** {@code SIGTERM}; returns when it has ended. */
  void stop() throws InterruptedException, IOException {
    process.destroy();
    assertThat(process.waitFor(STOP.toSeconds(), TimeUnit.SECONDS))
        .as("%s ends: %s", name, console())
        .isTrue();
  }

  /**
   * The sum of all series of a metric; 0 when there is none.
   *
   * @param labels what a series' labels must contain, each as {@code key="value"}
   */
  long metric(String metric, String... labels) throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
            .timeout(Duration.ofSeconds(10))
            .build();
    return Pattern.compile("(?m)^" + Pattern.quote(metric) + "(\\{[^}]*})? ([0-9.Ee+]+)$")
        .matcher(HTTP.send(request, BodyHandlers.ofString()).body())
        .results()
        .filter(
            series -> List.of(labels).stream().allMatch(String.valueOf(series.group(1))::contains))
        .mapToLong(series -> Math.round(Double.parseDouble(series.group(2))))
        .sum();
  }

  String console() throws IOException {
    return Files.readString(console);
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().orTimeout(10, TimeUnit.SECONDS).join();
  }
}
