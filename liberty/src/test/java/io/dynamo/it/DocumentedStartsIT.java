package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every block in the pages that starts servers, from the runnable archive or with Maven, run as
 * documented; all its servers must become ready. What Maven would build is built already.
 */
@Tag("archive")
@ManyServers
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class DocumentedStartsIT {
  private static final String VERSION = "dynamo-0.1.0-SNAPSHOT";
  private static final String UNPACKED = VERSION + "/bin/dynamo ";

  private static @TempDir Path folder;

  @SuppressWarnings("NullAway.Init") // before all
  private static Path home;

  @SuppressWarnings("NullAway.Init") // before all
  private static Path server;

  @SuppressWarnings("NullAway.Init") // before all
  private static Path tls;

  @BeforeAll
  static void prepare() throws Exception {
    assumeTrue(InstalledArchive.isBuilt(), "the archive is built with -Parchive only");
    home = InstalledArchive.unpackInto(Files.createDirectory(folder.resolve("archive"))).home();
    server = folder.resolve("server");
    ServerProcess.copyTree(Path.of(System.getProperty("dynamo.it.config")), server);
    Files.createDirectories(server.resolve("apps"));
    Files.copy(
        Path.of(System.getProperty("dynamo.it.ear")),
        server.resolve("apps/dynamo.ear"),
        StandardCopyOption.REPLACE_EXISTING);
    tls = folder.resolve("tls");
    var identities = new Identities(tls, "server");
    Files.copy(identities.certificateFile("server"), tls.resolve("chain.pem"));
    Files.copy(identities.keyFile("server"), tls.resolve("key.pem"));
    Files.copy(identities.authorityFile(), tls.resolve("ca.pem"));
  }

  static List<DocumentedBlock> blocks() throws IOException {
    return Stream.of(DocumentedBlock.Kind.ARCHIVE, DocumentedBlock.Kind.STARTS)
        .flatMap(DocumentedStartsIT::of)
        .toList();
  }

  private static Stream<DocumentedBlock> of(DocumentedBlock.Kind kind) {
    try {
      return DocumentedBlock.of(kind).stream();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  @ParameterizedTest
  @MethodSource("blocks")
  void serversStartAsThePageSays(DocumentedBlock block, @TempDir Path work) throws Exception {
    var peer = System.getProperty("dynamo.it.peer", "");
    assumeFalse(
        block.text().contains("llama-server") && List.of("", "skip").contains(peer),
        "left out: -Ddynamo.it.peer names no Python environment with llama.cpp's server");
    Files.writeString(work.resolve("dynamo.properties"), "dynamo.http.port = 8100\n");
    boolean clustered = block.text().contains("etcd-1");
    try (var etcd = clustered ? EtcdProcess.start(work) : null;
        var shell = shell(block, work)) {
      if (etcd != null) {
        shell.replace("http://etcd-1:2379,http://etcd-2:2379,http://etcd-3:2379", etcd.endpoint());
      }
      shell.run(block);
      boolean starts = Pattern.compile("serve|liberty:run").matcher(block.text()).find();
      assertThat(Files.exists(work.resolve("started")))
          .as("%s starts a server", block.place())
          .isEqualTo(starts);
      if (starts) {
        shell.awaitReady();
      }
    }
  }

  private static DocumentShell shell(DocumentedBlock block, Path work) throws IOException {
    int port = ServerProcess.freePort();
    int natsPort = ServerProcess.freePort();
    boolean unpacks = block.text().contains("tar -xzf");
    return new DocumentShell(work)
        .with("DOC_HTTP_PORT", Integer.toString(port))
        .with("DOC_ARCHIVE", (unpacks ? work.resolve(VERSION) : home).toString())
        .with("DOC_SERVER", server.toString())
        .with("DOC_WLP", System.getProperty("dynamo.it.wlp"))
        .with("DOC_MODEL", PeerProcess.model().toString())
        .with("DOC_PYTHON_SOURCES", sources().toString())
        .with("HOME", work.toString())
        .with("XDG_STATE_HOME", work.resolve("state").toString())
        .replace("liberty/target/" + VERSION + ".tar.gz", System.getProperty("dynamo.it.archive"))
        .replace(" -C /opt", "")
        .replace("/opt/" + UNPACKED, "dynamo ")
        .replace(UNPACKED, "dynamo ")
        .replace("/models/tiny", PeerProcess.model().toString())
        .replace("/models/small", PeerProcess.model().toString())
        .replace("/tmp/dynamo-store", work.resolve("store").toString())
        .replace("DYN_FILE_KV=/tmp/dynamo", "DYN_FILE_KV=" + work.resolve("kv"))
        .replace("/etc/dynamo/", tls + "/")
        .replacePort(8000, port)
        .replacePort(8001, ServerProcess.freePort())
        .replacePort(8002, ServerProcess.freePort())
        .replacePort(8080, ServerProcess.freePort())
        .replacePort(9090, ServerProcess.freePort())
        .replace("-p 4222", "-p " + natsPort)
        .replace(":4222", ":" + natsPort);
  }

  private static Path sources() {
    return Path.of("../worker-war/src/test/python").toAbsolutePath().normalize();
  }
}
