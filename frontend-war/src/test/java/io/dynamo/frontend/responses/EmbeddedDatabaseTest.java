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
class EmbeddedDatabaseTest extends ConversationStoreContract {
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
  void lookingForWhatIsNotThereCreatesNothing() throws InterruptedException {
    var store = open(settings());
    var id = ResponseIds.next();

    assertThat(store.find(id, soon(), ROOM)).isEmpty();
    assertThat(store.chain(id, 1 << 20, soon(), ROOM)).isEqualTo(new ResponseChain.Missing(id));
    assertThat(store.delete(id, soon())).isFalse();

    assertThat(folder()).doesNotExist();
  }

  @Test
  void folderThatIsALinkIsRefused() throws Exception {
    var elsewhere = Files.createDirectory(parent.resolve("elsewhere"));
    Files.createSymbolicLink(folder(), elsewhere);
    var store = open(settings());
    var waiting = response(null, "{}");
    store.store(waiting);

    assertThat(store.find(waiting.id(), soon(), ROOM)).as("it still waits").isPresent();
    store.close(); // the writer has tried
    assertThat(elsewhere).isEmptyDirectory();
    assertThat(metrics.counter(ResponseMetrics.LOST).value()).isOne();
  }

  @Test
  void otherUsersFolderIsRefusedToReaders() throws Exception {
    var elsewhere = Files.createDirectory(parent.resolve("elsewhere"));
    Files.createFile(elsewhere.resolve("responses.mv.db"));
    Files.createSymbolicLink(folder(), elsewhere);
    var store = open(settings());

    assertThatThrownBy(() -> store.find(ResponseIds.next(), soon(), ROOM))
        .asInstanceOf(type(ApiException.class))
        .satisfies(it -> assertThat(it.error().status()).isEqualTo(503));
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
