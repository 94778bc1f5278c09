package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The runnable archive in a fresh folder, run by another user than the one who unpacked it. */
@Tag("archive")
class ArchiveIT {
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String TIERED = "-Xmx512m -XX:TieredStopAtLevel=1";

  private static @TempDir Path folder;
  private static InstalledArchive archive;

  @BeforeAll
  static void unpack() throws Exception {
    assumeTrue(InstalledArchive.isBuilt(), "the archive is built with -Parchive only");
    archive = InstalledArchive.unpackInto(folder);
  }

  @Test
  void productLicencesAndDocumentsAreInside() throws Exception {
    assertThat(archive.home())
        .isDirectoryContaining("glob:**/README.md")
        .isDirectoryContaining("glob:**/LICENSE")
        .isDirectoryContaining("glob:**/dynamo-sbom.json");
    assertThat(archive.home().resolve("wlp/LICENSE")).exists();
    assertThat(archive.files().keySet())
        .noneMatch(name -> name.endsWith("server.env"))
        .noneMatch(name -> name.contains("resources/security"))
        .noneMatch(name -> name.contains("workarea"));
    assertThat(Files.size(Path.of(System.getProperty("dynamo.it.archive"))))
        .isLessThan(125_000_000);
  }

  @Test
  void twoServersOfOneInstallationServeTogetherAndLeaveItAsItWas() throws Exception {
    var before = archive.files();
    int workerPort = ServerProcess.freePort();
    int frontPort = ServerProcess.freePort();
    var store = archive.scratch().resolve("store").toString();
    var settings = archive.scratch().resolve("worker.properties");
    Files.writeString(
        settings, "dynamo.http.port = " + workerPort + "\ndynamo.worker.model-name = packed\n");
    // a worker on a processor that the archive has no native library for
    var worker =
        archive.start(
            folder.resolve("worker.log"),
            Map.of("JVM_ARGS", TIERED + " -Dos.arch=unheard"),
            "serve",
            "--name",
            "worker",
            "--roles",
            "worker",
            "--store",
            store,
            "--config",
            settings.toString());
    var front =
        archive.start(
            folder.resolve("front.log"),
            Map.of("JVM_ARGS", TIERED),
            "serve",
            "--name",
            "front",
            "--roles",
            "frontend,router",
            "--store",
            store,
            "--port",
            Integer.toString(frontPort));
    try {
      awaitReady(worker, "worker", workerPort);
      awaitReady(front, "front", frontPort);

      var answer = HTTP.send(chat(frontPort), BodyHandlers.ofString());

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      assertThat(answer.body()).contains("Paris");
      assertThat(get(frontPort, "/health/ready")).contains("\"native\":\"present\"");
      assertThat(Files.readString(folder.resolve("front.log")))
          .as("the container's own lines are few")
          .contains("CWWKF0011I")
          .doesNotContain("CWWKG0028A", "CWWKT0016I", "[ERROR");
      theCommandLineSeesThem(frontPort, answer.body());
      assertThat(worker.info().commandLine().orElse("")).contains("ws-server.jar");
    } finally {
      end(front);
      end(worker);
    }
    assertThat(archive.files()).isEqualTo(before);
    assertThat(archive.scratch().resolve(".local/state/dynamo/front/logs/messages.log")).exists();
    assertThat(archive.scratch().resolve(".local/state/dynamo/worker/logs/messages.log")).exists();
  }

  @Test
  void theSecondStartMapsTheClassesThatTheFirstLeft() throws Exception {
    var data = archive.scratch().resolve("mapped");
    assertThat(serveOnce("first", data, TIERED)).doesNotContain("classes-");
    assertThat(serveOnce("second", data, TIERED)).contains(archiveOf(data).toString());

    // one that is cut short, and a JVM with an agent, which may not record classes
    try (var cut = FileChannel.open(archiveOf(data), StandardOpenOption.WRITE)) {
      cut.truncate(100_000);
    }
    assertThat(serveOnce("cut", data, TIERED)).doesNotContain("classes-");
    var agent = "-javaagent:" + archive.home().resolve("wlp/bin/tools/ws-javaagent.jar");
    assertThat(serveOnce("agent", data, TIERED + " " + agent)).doesNotContain("classes-");
  }

  /** Starts a server on {@code data}, stops it, and returns the files that its memory maps. */
  private static String serveOnce(String name, Path data, String jvm) throws Exception {
    int port = ServerProcess.freePort();
    var server =
        archive.start(
            folder.resolve(name + ".log"),
            Map.of("JVM_ARGS", jvm),
            "serve",
            "--data",
            data.toString(),
            "--port",
            Integer.toString(port));
    try {
      awaitReady(server, name, port);
      return Files.readString(Path.of("/proc/" + server.pid() + "/maps"));
    } finally {
      end(server);
    }
  }

  private static Path archiveOf(Path data) throws IOException {
    try (var files = Files.newDirectoryStream(data, "classes-*.jsa")) {
      return files.iterator().next();
    }
  }

  private static void theCommandLineSeesThem(int port, String answer) throws Exception {
    var url = "http://127.0.0.1:" + port;
    assertThat(archive.dynamo(Map.of("DYN_HTTP_PORT", port + ""), "models").text())
        .isEqualTo("packed\n");
    assertThat(archive.dynamo(Map.of(), "workers", "--url", url).text().lines())
        .hasSizeGreaterThan(1)
        .first()
        .asString()
        .contains("IN LOGS", "LAST TTFT");
    var id = answer.replaceFirst("(?s).*\"id\":\"(chatcmpl-[^\"]+)\".*", "$1");
    var explained = archive.dynamo(Map.of(), "explain", id, "--url", url);
    assertThat(explained.text()).contains("model packed", "CACHED BLOCKS");
    var chat =
        archive.dynamo(Map.of(), "chat", "-m", "What is the capital of Italy?", "--url", url);
    assertThat(chat.text()).contains("Rome");
    var bench =
        archive.dynamo(
            Map.of(),
            "bench",
            "--requests",
            "4",
            "--concurrency",
            "2",
            "--max-tokens",
            "8",
            "--url",
            url);
    assertThat(bench.status()).as(bench.text()).isZero();
    assertThat(bench.text()).contains("4 answered, 0 failed");
    var taken = archive.dynamo(Map.of("DYN_HTTP_PORT", port + ""), "check");
    assertThat(taken.status()).isEqualTo(1);
    assertThat(taken.text()).contains("127.0.0.1:" + port + " cannot be bound");
  }

  @Test
  void theCommandLineWorksWithoutAServer() throws Exception {
    var version = archive.dynamo(Map.of(), "version");
    assertThat(version.text()).contains("dynamo 0.", "Java 25", "with the native library");
    var check = archive.dynamo(Map.of("DYN_HTTP_PORT", ServerProcess.freePort() + ""), "check");
    assertThat(check.text()).contains("a server can start here");
    assertThat(check.status()).isZero();
    var settings = archive.dynamo(Map.of("DYN_HTTP_PORT", "9001"), "settings", "http.port");
    assertThat(settings.text()).contains("dynamo.http.port = 9001 (the variable DYN_HTTP_PORT)");
    assertThat(archive.dynamo(Map.of(), "completion").text()).contains("explain");
    assertThat(archive.dynamo(Map.of(), "nonsense").status()).isEqualTo(2);
  }

  @Test
  void anOlderJavaIsNamedWithWhatToDo() throws Exception {
    var old = archive.scratch().resolve("jdk-17");
    Files.createDirectories(old.resolve("bin"));
    Files.writeString(old.resolve("release"), "JAVA_VERSION=\"17.0.9\"\n");
    Files.writeString(old.resolve("bin/java"), "#!/bin/sh\nexit 1\n");
    Files.setPosixFilePermissions(
        old.resolve("bin/java"), PosixFilePermissions.fromString("rwxr-xr-x"));
    var link = Files.createSymbolicLink(archive.scratch().resolve("java-17"), old);
    // the places where it looks for a better one, empty
    var script = archive.home().resolve("bin/dynamo");
    var original = Files.readString(script);
    var blind = original.replace("/usr/lib/jvm/*", "").replace("/opt/java/openjdk", "");
    assertThat(blind).isNotEqualTo(original);
    Files.writeString(script, blind);
    try {
      var outcome =
          archive.dynamo(
              Map.of(
                  "JAVA_HOME", old.toString(),
                  "JAVA_HOME_25", link.toString(),
                  "PATH", withoutJava()),
              "serve");

      assertThat(outcome.text())
          .contains("Java 25 or later is needed")
          .containsOnlyOnce("Java 17 in ") // JAVA_HOME_25 names the same by a link
          .contains("Java 17 in " + old)
          .contains("point JAVA_HOME at one")
          .doesNotContain("Unrecognized");
      assertThat(outcome.status()).isEqualTo(78);
    } finally {
      Files.writeString(script, original);
    }
  }

  @Test
  void unknownOptionsAndUnwritableFoldersAreRefused() throws Exception {
    assertThat(archive.dynamo(Map.of(), "serve", "--prot", "1"))
        .satisfies(refused -> assertThat(refused.status()).isEqualTo(2))
        .satisfies(refused -> assertThat(refused.text()).contains("\"--prot\""));
    if (archive.isOtherUser()) {
      var refused = archive.dynamo(Map.of(), "serve", "--data", archive.home().toString());
      assertThat(refused.status()).isEqualTo(2);
      assertThat(refused.text()).contains("cannot be written by nobody", "--data");
    }
  }

  /** The folders of PATH with what the script needs, linked, and no java. */
  private static String withoutJava() throws IOException {
    var tools = Files.createDirectories(archive.scratch().resolve("tools"));
    for (var tool :
        new String[] {
          "sh", "sed", "grep", "dirname", "basename", "readlink", "id", "mkdir", "cat"
        }) {
      var link = tools.resolve(tool);
      if (Files.notExists(link)) {
        Files.createSymbolicLink(
            link,
            Files.exists(Path.of("/bin", tool))
                ? Path.of("/bin", tool)
                : Path.of("/usr/bin", tool));
      }
    }
    return tools.toString();
  }

  private static HttpRequest chat(int port) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/chat/completions"))
        .timeout(Duration.ofSeconds(60))
        .header("content-type", "application/json")
        .POST(
            HttpRequest.BodyPublishers.ofString(
                """
                {"model":"packed","messages":[{"role":"user","content":"What is the capital of France?"}]}
                """))
        .build();
  }

  private static String get(int port, String path) throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofSeconds(10))
            .build();
    var answer = HTTP.send(request, BodyHandlers.ofString());
    return answer.statusCode() + " " + answer.body();
  }

  private static void awaitReady(Process server, String name, int port) {
    Polling.until(
        name + " ready",
        Duration.ofMinutes(4),
        Duration.ofMillis(200),
        () -> {
          if (!server.isAlive()) {
            throw new AssertionError(
                name + " ended\n" + Files.readString(folder.resolve(name + ".log")));
          }
          try {
            return get(port, "/health/ready").startsWith("200");
          } catch (ConnectException _) {
            return false;
          }
        });
  }

  private static void end(Process server) throws InterruptedException {
    server.destroy();
    if (!server.waitFor(45, TimeUnit.SECONDS)) {
      server.destroyForcibly();
    }
  }
}
