package io.dynamo.frontend.responses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.frontend.ApiException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Responses in the embedded database. */
class EmbeddedDatabaseTest extends ResponseStoreContract {
  @TempDir Path parent;

  private Path folder() {
    return parent.resolve("responses");
  }

  @Override
  ResponsesSettings settings() {
    return standard(null, null, folder());
  }

  @Test
  void folderAndFilesAreTheOwnersAlone() throws Exception {
    written(open(settings()), null, "{}");

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder())))
        .isEqualTo("rwx------");
    try (var files = Files.list(folder())) {
      assertThat(files)
          .isNotEmpty()
          .allSatisfy(
              file ->
                  assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                      .isEqualTo("rw-------"));
    }
  }

  @Test
  void nothingIsCreatedBeforeSomethingIsStored() {
    open(settings());

    assertThat(folder()).doesNotExist();
  }

  @Test
  void folderThatIsALinkIsRefused() throws Exception {
    Files.createSymbolicLink(folder(), Files.createDirectory(parent.resolve("elsewhere")));
    var store = open(settings());
    var waiting = response(null, "{}");
    store.store(waiting);

    assertThatThrownBy(() -> store.find(ResponseIds.next(), soon()))
        .asInstanceOf(type(ApiException.class))
        .satisfies(it -> assertThat(it.error().status()).isEqualTo(503));
    assertThat(store.find(waiting.id(), soon())).as("it still waits").isPresent();
    assertThat(parent.resolve("elsewhere")).isEmptyDirectory();
  }

  @Test
  void openFolderIsClosedToOthers() throws IOException, InterruptedException {
    Files.createDirectory(folder());
    Files.setPosixFilePermissions(folder(), PosixFilePermissions.fromString("rwxrwxrwx"));

    written(open(settings()), null, "{}");

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder())))
        .isEqualTo("rwx------");
  }
}
