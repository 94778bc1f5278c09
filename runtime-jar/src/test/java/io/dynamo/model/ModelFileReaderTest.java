package io.dynamo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import io.dynamo.config.plane.ModelFileSettings;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelFileReaderTest {
  // the published BLAKE3 digest of "abc"
  private static final String ABC =
      "blake3:6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";

  private static final long MOST = 1 << 20;
  private static final ModelFileReader READER = reader(List.of(), Set.of());

  @TempDir private Path folder;
  private HttpServer host;

  @BeforeEach
  void startHost() throws IOException {
    host = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    answer("/v1/metadata/abc", 200, "abc");
    answer("/v1/metadata/gone", 404, "Not found");
    host.createContext(
        "/v1/metadata/moved",
        exchange -> {
          exchange.getResponseHeaders().set("Location", "/v1/metadata/abc");
          exchange.sendResponseHeaders(302, -1);
          exchange.close();
        });
    host.start();
  }

  private void answer(String path, int status, String body) {
    host.createContext(
        path,
        exchange -> {
          var bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
  }

  @AfterEach
  void stopHost() {
    host.stop(0);
  }

  private ModelFile hosted(String path, String checksum, @Nullable Long size) {
    return new ModelFile("http://127.0.0.1:" + host.getAddress().getPort() + path, checksum, size);
  }

  @Test
  void hostedFileIsFetchedAndChecked() throws IOException {
    assertThat(READER.read(hosted("/v1/metadata/abc", ABC, 3L), MOST)).asString().isEqualTo("abc");
    assertThat(READER.read(hosted("/v1/metadata/abc", ABC, null), MOST))
        .asString()
        .isEqualTo("abc");
    assertThatThrownBy(() -> READER.read(hosted("/v1/metadata/abc", "blake3:0", 3L), MOST))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("checksum blake3:0 that the model's card names");
  }

  @Test
  void hostThatSendsMoreThanTheCardSaysIsNotReadToTheEnd() {
    assertThatThrownBy(() -> READER.read(hosted("/v1/metadata/abc", ABC, 2L), MOST))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot be fetched");
  }

  @Test
  void answersOtherThanTheFileAreRefused() {
    assertThatThrownBy(() -> READER.read(hosted("/v1/metadata/gone", ABC, 3L), MOST))
        .hasMessageContaining("404");
    assertThatThrownBy(() -> READER.read(hosted("/v1/metadata/moved", ABC, 3L), MOST))
        .hasMessageContaining("302");
  }

  @Test
  void hostThatIsGoneIsAnErrorAtOnce() {
    var file = hosted("/v1/metadata/abc", ABC, 3L);
    host.stop(0);

    assertThatThrownBy(() -> READER.read(file, MOST))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot be fetched");
  }

  @Test
  void otherSchemesAreRefused() {
    assertThatThrownBy(() -> READER.read(new ModelFile("hf://a/b", ABC, 3L), MOST))
        .hasMessageContaining("neither a local file nor an address");
  }

  private static ModelFileReader reader(List<Path> folders, Set<String> hosts) {
    return new ModelFileReader(new ModelFileSettings(1 << 20, folders, hosts));
  }

  private Path abc() throws IOException {
    return Files.writeString(folder.resolve("abc.json"), "abc");
  }

  private static ModelFile local(Path file) {
    return new ModelFile(file.toString(), ABC, null);
  }

  @Test
  void localFilesAreReadAlsoThroughLinks() throws IOException {
    var link = Files.createSymbolicLink(folder.resolve("link.json"), abc());

    assertThat(READER.read(local(abc()), MOST)).asString().isEqualTo("abc");
    assertThat(READER.read(local(link), MOST)).asString().isEqualTo("abc");
  }

  @Test
  void filesBesideALocalOneAreReadWithinTheSameRules() throws IOException {
    var config = local(folder.resolve("config.json"));
    var elsewhere = Files.createDirectory(folder.resolve("elsewhere"));

    assertThat(READER.readBeside(config, "abc.json", MOST)).as("absent").isNull();
    abc();
    assertThat(READER.readBeside(config, "abc.json", MOST)).asString().isEqualTo("abc");
    assertThat(READER.readBeside(hosted("/v1/metadata/abc", ABC, 3L), "abc.json", MOST)).isNull();
    assertThatThrownBy(() -> READER.readBeside(config, "abc.json", 2))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(
            () -> reader(List.of(elsewhere), Set.of()).readBeside(config, "abc.json", MOST))
        .hasMessageContaining("model-folders");
  }

  @Test
  void aFileBeyondTheBoundIsNotRead() throws IOException {
    var file = folder.resolve("sparse.json");
    try (var sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(MOST + 1);
    }

    assertThatThrownBy(() -> READER.read(local(file), MOST))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("1048577 bytes, more than 1048576", "model-file-limit");
    assertThatThrownBy(() -> READER.read(hosted("/v1/metadata/abc", ABC, MOST + 1), MOST))
        .hasMessageContaining("1048577 bytes, more than 1048576");
    assertThatThrownBy(() -> READER.read(hosted("/v1/metadata/abc", ABC, null), 2))
        .hasMessageContaining("cannot be fetched");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/proc/self/environ", "/proc/version", "/dev/zero", "/sys/kernel/notes"})
  void filesOfTheSystemAreNotRead(String path) {
    assumeTrue(Files.exists(Path.of(path)));

    assertThatThrownBy(() -> READER.read(new ModelFile(path, ABC, null), MOST))
        .hasMessageContaining("is no file of a model");
  }

  @Test
  void aLinkToAFileOfTheSystemIsNotRead() throws IOException {
    var link = Files.createSymbolicLink(folder.resolve("link.json"), Path.of("/proc/self/status"));

    assertThatThrownBy(() -> READER.read(local(link), MOST))
        .hasMessageContaining("is no file of a model");
  }

  /** An error does not reveal the content of a file that a card names wrongly. */
  @Test
  void aWrongChecksumTellsNothingOfTheFile() throws IOException {
    var file = new ModelFile(abc().toString(), "blake3:0", null);

    assertThatThrownBy(() -> READER.read(file, MOST))
        .hasMessageContaining("blake3:0")
        .hasMessageNotContaining(ABC);
  }

  @Test
  void onlyFoldersThatAreNamedAreReadWhenThereAreSome() throws IOException {
    var models = Files.createDirectory(folder.resolve("models"));
    var inside = Files.writeString(models.resolve("abc.json"), "abc");
    var out = Files.createSymbolicLink(models.resolve("out.json"), abc());
    var reader = reader(List.of(models), Set.of());

    assertThat(reader.read(local(inside), MOST)).asString().isEqualTo("abc");
    for (var other : List.of(abc(), out, models.resolve("../abc.json"))) {
      assertThatThrownBy(() -> reader.read(local(other), MOST))
          .as("%s", other)
          .hasMessageContaining("dynamo.discovery.model-folders");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1:1/latest/secret",
        "http://127.0.0.1:1/v1/metadata/../../secret",
        "http://127.0.0.1:1/v1/metadata/%2e%2e/%2e%2e/secret",
        "http://127.0.0.1:1/v1/metadata/x?y=1",
        "http://user:word@127.0.0.1:1/v1/metadata/x",
        "http:///v1/metadata/x",
        "http://127.0.0.1:1/v1/metadata/a b",
        "http://169.254.169.254/v1/metadata/x",
        "http://[fe80::1]/v1/metadata/x",
        "http://0.0.0.0:1/v1/metadata/x"
      })
  void addressesThatNoWorkerHasAreNotAsked(String address) {
    assertThatThrownBy(() -> READER.read(new ModelFile(address, ABC, 3L), MOST))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(address)
        .hasMessageNotContaining("cannot be fetched");
  }

  @Test
  void onlyHostsThatAreNamedAreAskedWhenThereAreSome() throws IOException {
    answer("/mirror/abc", 200, "abc");
    var named = reader(List.of(), Set.of("127.0.0.1"));

    assertThat(named.read(hosted("/mirror/abc", ABC, 3L), MOST)).asString().isEqualTo("abc");
    assertThatThrownBy(
            () ->
                reader(List.of(), Set.of("models.example"))
                    .read(hosted("/v1/metadata/abc", ABC, 3L), MOST))
        .hasMessageContaining("dynamo.discovery.model-hosts");
  }
}
