package io.dynamo.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
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
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;

/**
 * A real etcd of one member, in a process of its own on loopback. Its tests are left out where it
 * is not installed, unless {@code -Ddynamo.it.etcd=required}. Asked through its JSON gateway, so
 * that the client under test has no part in it. Owned by one test thread.
 */
public final class EtcdProcess implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final HttpClient HTTP =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

  /** A key as etcd has it. */
  public record Stored(String key, byte[] value, long lease) {}

  private final Path folder;
  private int port; // for clients; the next one is for peers, and the one after it for probes
  private final String scheme;
  private final List<String> more;
  private Process process;

  private EtcdProcess(Path folder, String scheme, List<String> more) {
    this.folder = folder;
    this.scheme = scheme;
    this.more = List.copyOf(more);
    this.process = launchOnFreePorts();
  }

  private Process launchOnFreePorts() {
    for (int attempt = 1; ; attempt++) {
      port = FreePorts.next(3);
      var launched = launch();
      if (isUp(launched)) {
        return launched;
      }
      if (attempt == FreePorts.ATTEMPTS || !log().contains("address already in use")) {
        launched.destroyForcibly();
        throw unanswered();
      }
    }
  }

  private String log() {
    try {
      return Files.readString(folder.resolve("etcd.log"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private AssertionError unanswered() {
    return new AssertionError("etcd does not answer; see " + folder.resolve("etcd.log"));
  }

  /** Starts etcd with its data below {@code folder}, and returns when it answers. */
  public static EtcdProcess start(Path folder) {
    return start(folder, "http");
  }

  /**
   * The same with more arguments.
   *
   * @param scheme in which clients are served
   */
  public static EtcdProcess start(Path folder, String scheme, String... more) {
    boolean installed =
        Pattern.compile(Pattern.quote(File.pathSeparator))
            .splitAsStream(System.getenv().getOrDefault("PATH", ""))
            .anyMatch(part -> Files.isExecutable(Path.of(part, "etcd")));
    if (!"required".equals(System.getProperty("dynamo.it.etcd"))) {
      assumeTrue(installed, "left out: etcd is not installed (Debian's package etcd-server)");
    }
    assertThat(installed).as("etcd is installed").isTrue();
    return new EtcdProcess(folder, scheme, List.of(more));
  }

  private Process launch() {
    var peer = "http://127.0.0.1:" + (port + 1);
    var command =
        new ArrayList<>(
            List.of(
                "etcd",
                "--name=test",
                "--data-dir=" + folder.resolve("data"),
                "--listen-client-urls=" + endpoint(),
                "--advertise-client-urls=" + endpoint(),
                "--listen-metrics-urls=http://127.0.0.1:" + (port + 2),
                "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer,
                "--initial-cluster=test=" + peer));
    command.addAll(more);
    try {
      return new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("etcd.log").toFile()))
          .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until the process answers; returns false when it ends before, or takes too long. */
  private boolean isUp(Process launched) {
    long begun = System.nanoTime();
    while (!isHealthy()) {
      if (System.nanoTime() - begun > PATIENCE.toNanos() || !launched.isAlive()) {
        return false;
      }
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos()); // another process: none to notify
    }
    return true;
  }

  private boolean isHealthy() {
    try {
      var health = URI.create("http://127.0.0.1:%d/health".formatted(port + 2));
      var request = HttpRequest.newBuilder(health).timeout(Duration.ofSeconds(2)).build();
      return HTTP.send(request, HttpResponse.BodyHandlers.ofString()).statusCode() == 200;
    } catch (IOException notYet) {
      return false;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Where clients connect. */
  public String endpoint() {
    return scheme + "://127.0.0.1:" + port;
  }

  /** All keys that begin with {@code prefix}. */
  public Map<String, Stored> keys(String prefix) {
    int last = prefix.length() - 1;
    var end = prefix.substring(0, last) + (char) (prefix.charAt(last) + 1);
    var answer = post("/v3/kv/range", Map.of("key", encode(prefix), "range_end", encode(end)));
    var keys = new TreeMap<String, Stored>();
    for (var kv : answer.optionalObjects("kvs")) {
      var key = new String(decode(kv.text("key")), StandardCharsets.UTF_8);
      var lease = kv.optionalText("lease");
      var value = decode(kv.text("value"));
      keys.put(key, new Stored(key, value, lease == null ? 0 : Long.parseLong(lease)));
    }
    return keys;
  }

  /** Writes a key without a lease. */
  public void put(String key, String value) {
    post("/v3/kv/put", Map.of("key", encode(key), "value", encode(value)));
  }

  /** Deletes a key. */
  public void delete(String key) {
    post("/v3/kv/deleterange", Map.of("key", encode(key)));
  }

  /** Ends a lease before its time. */
  public void revoke(long lease) {
    post("/v3/lease/revoke", Map.of("ID", Long.toString(lease)));
  }

  /** Forgets all revisions but the present one. */
  public void compact() {
    var header = post("/v3/kv/range", Map.of("key", encode("x"))).object("header");
    post("/v3/kv/compaction", Map.of("revision", header.text("revision"), "physical", true));
  }

  /** From now on only that user may use the keys below {@code v1/}. */
  public void demandPassword(String user, String password) {
    for (var name : List.of("root", user)) {
      post("/v3/auth/user/add", Map.of("name", name, "password", password));
      post("/v3/auth/role/add", Map.of("name", name));
      post("/v3/auth/user/grant", Map.of("user", name, "role", name));
    }
    var all = Map.of("permType", 2, "key", encode("v1/"), "range_end", encode("v10"));
    post("/v3/auth/role/grant", Map.of("name", user, "perm", all));
    post("/v3/auth/enable", Map.of());
  }

  private JsonObject post(String path, Map<String, ?> body) {
    try {
      var answer =
          HTTP.send(
              HttpRequest.newBuilder(URI.create(endpoint() + path))
                  .timeout(PATIENCE)
                  .POST(HttpRequest.BodyPublishers.ofByteArray(Json.write(body)))
                  .build(),
              HttpResponse.BodyHandlers.ofByteArray());
      assertThat(answer.statusCode()).as(path).isEqualTo(200);
      return Json.readObject(answer.body());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String encode(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] decode(String base64) {
    return Base64.getDecoder().decode(base64);
  }

  /** {@code kill -9}. */
  public void kill() {
    process.destroyForcibly();
    process.onExit().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
  }

  /** Starts it again after {@link #kill} with the data that it had. */
  public void startAgain() {
    process = launch();
    if (!isUp(process)) {
      throw unanswered();
    }
  }

  /** Starts it again after {@link #kill} without any data. */
  public void startEmpty() throws IOException {
    try (var files = Files.walk(folder.resolve("data"))) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
    startAgain();
  }

  /** {@code SIGSTOP}: it keeps its connections and answers nothing. */
  public void pause() {
    signal("-STOP");
  }

  /** {@code SIGCONT}. */
  public void resume() {
    signal("-CONT");
  }

  private void signal(String name) {
    try {
      var sent = new ProcessBuilder("kill", name, Long.toString(process.pid())).start();
      sent.onExit().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
      assertThat(sent.exitValue()).isZero();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    kill();
  }
}
