package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * A real etcd of one member in a process of its own, asked through its JSON gateway. Its tests are
 * left out where it is not installed, unless {@code -Ddynamo.it.etcd=required}. Owned by one test
 * thread.
 */
final class EtcdProcess implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

  private final Path folder;
  private final int port;
  private final int peerPort;
  private Process process;

  private EtcdProcess(Path folder, int port, int peerPort) {
    this.folder = folder;
    this.port = port;
    this.peerPort = peerPort;
    this.process = launch();
  }

  /** Starts etcd with its data below {@code folder}, and returns when it answers. */
  static EtcdProcess start(Path folder) throws IOException {
    boolean installed =
        Pattern.compile(Pattern.quote(File.pathSeparator))
            .splitAsStream(System.getenv().getOrDefault("PATH", ""))
            .anyMatch(part -> Files.isExecutable(Path.of(part, "etcd")));
    if (!"required".equals(System.getProperty("dynamo.it.etcd"))) {
      assumeTrue(installed, "left out: etcd is not installed (Debian's package etcd-server)");
    }
    assertThat(installed).as("etcd is installed").isTrue();
    var etcd = new EtcdProcess(folder, ServerProcess.freePort(), ServerProcess.freePort());
    etcd.awaitHealthy();
    return etcd;
  }

  private Process launch() {
    var peer = "http://127.0.0.1:" + peerPort;
    try {
      return new ProcessBuilder(
              "etcd",
              "--name=test",
              "--data-dir=" + folder.resolve("etcd"),
              "--listen-client-urls=" + endpoint(),
              "--advertise-client-urls=" + endpoint(),
              "--listen-peer-urls=" + peer,
              "--initial-advertise-peer-urls=" + peer,
              "--initial-cluster=test=" + peer)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("etcd.log").toFile()))
          .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void awaitHealthy() {
    Polling.until("etcd answers", PATIENCE, () -> post("/v3/maintenance/status", Map.of()) != null);
  }

  String endpoint() {
    return "http://127.0.0.1:" + port;
  }

  /** The keys that begin with {@code prefix}, in order. */
  List<String> keys(String prefix) {
    int last = prefix.length() - 1;
    var end = prefix.substring(0, last) + (char) (prefix.charAt(last) + 1);
    var answer =
        post(
            "/v3/kv/range",
            Map.of("key", base64(prefix), "range_end", base64(end), "keys_only", true));
    var keys = new ArrayList<String>();
    for (var found : answer.path("kvs")) {
      var key = Base64.getDecoder().decode(found.get("key").textValue());
      keys.add(new String(key, StandardCharsets.UTF_8));
    }
    return keys;
  }

  /** Ends a lease before its time. */
  void revoke(long lease) {
    post("/v3/lease/revoke", Map.of("ID", Long.toString(lease)));
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private JsonNode post(String path, Map<String, ?> body) {
    try {
      var answer =
          HTTP.send(
              HttpRequest.newBuilder(URI.create(endpoint() + path))
                  .timeout(PATIENCE)
                  .POST(HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)))
                  .build(),
              HttpResponse.BodyHandlers.ofByteArray());
      assertThat(answer.statusCode()).as(path).isEqualTo(200);
      return JSON.readTree(answer.body());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** {@code kill -9}. */
  void kill() {
    process.destroyForcibly();
    process.onExit().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
  }

  /** Starts it again after {@link #kill} with the data that it had. */
  void startAgain() {
    process = launch();
    awaitHealthy();
  }

  @Override
  public void close() {
    kill();
  }
}
