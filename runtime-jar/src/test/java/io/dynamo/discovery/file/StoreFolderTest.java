package io.dynamo.discovery.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.testing.ManualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which folders are taken for a store. */
class StoreFolderTest {
  private static final int SOMEBODY = 65_534;

  @TempDir private Path home;

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  private static Path withMode(Path file, String mode) throws IOException {
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  private FileDiscovery open(Path root, boolean shared) {
    return new FileDiscovery(
        root, shared, Duration.ofSeconds(10), new InstanceId(7), ManualClock.now());
  }

  @Test
  void createdFoldersArePrivateToTheUser() throws IOException {
    var root = home.resolve("above/store");

    open(root, false).close();

    for (var made : new String[] {"", "v1", "v1/instances", "v1/mdc"}) {
      assertThat(mode(root.resolve(made))).as(made).isEqualTo("rwx------");
    }
    assertThat(mode(home.resolve("above"))).isEqualTo("rwx------");
    try (var left = Files.list(root)) {
      assertThat(left).containsExactly(root.resolve("v1"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"rwxrwx---", "rwx----w-", "rwxrwxrwx"})
  void aFolderThatOthersCanWriteIsRefusedWithTheRemedy(String mode) throws IOException {
    var root = withMode(Files.createDirectory(home.resolve("store")), mode);

    assertThatThrownBy(() -> open(root, false))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContainingAll(
            root.toString(), "can be written by other users", "dynamo.discovery.file-shared=true");
    assertThat(root).isEmptyDirectory();
  }

  @Test
  void aLinkIsRefusedAndNothingIsWrittenWhereItPoints() throws IOException {
    var target = withMode(Files.createDirectory(home.resolve("target")), "rwx------");
    var link = Files.createSymbolicLink(home.resolve("store"), target);

    assertThatThrownBy(() -> open(link, false))
        .hasMessageContainingAll(link.toString(), "a symbolic link");
    assertThat(target).isEmptyDirectory();
  }

  @Test
  void aLinkBelowTheFolderIsRefused() throws IOException {
    var root = withMode(Files.createDirectory(home.resolve("store")), "rwx------");
    var target = Files.createDirectory(home.resolve("target"));
    Files.createSymbolicLink(root.resolve("v1"), target);

    assertThatThrownBy(() -> open(root, false)).hasMessageContaining("a symbolic link");
    assertThat(target).isEmptyDirectory();
  }

  @Test
  void aFileIsRefused() throws IOException {
    var root = Files.createFile(home.resolve("store"));

    assertThatThrownBy(() -> open(root, false)).hasMessageContaining("is no directory");
  }

  @Test
  void theFolderOfAnotherUserIsRefused() throws IOException {
    var root = withMode(Files.createDirectory(home.resolve("store")), "rwx------");
    var folder = StoreFolder.ofUser(root, SOMEBODY);

    assertThatThrownBy(() -> folder.make(Instance.BUCKET))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("belongs to the user with id", "runs as " + SOMEBODY);
    assertThatThrownBy(() -> folder.check(Instance.BUCKET)).isInstanceOf(IOException.class);
  }

  @Test
  void aFolderThatOthersCouldReplaceIsRefusedUnlessTheyAreKeptFromIt() throws IOException {
    var above = withMode(Files.createDirectory(home.resolve("above")), "rwxrwxrwx");

    assertThatThrownBy(() -> open(above.resolve("store"), false))
        .hasMessageContainingAll(above.toString(), "no sticky bit");

    Files.setAttribute(above, "unix:mode", 01777);
    assertThatCode(() -> open(above.resolve("store"), false).close()).doesNotThrowAnyException();
  }

  /** As Dynamo's processes make it, when they are first. */
  @Test
  void aFolderThatOthersCanOnlyReadIsTakenAndItsRecordsAreClosedToThem() throws IOException {
    var root = withMode(Files.createDirectory(home.resolve("store")), "rwxr-xr-x");
    Files.createDirectories(root.resolve(Instance.BUCKET));
    var records = withMode(root.resolve("v1"), "rwxr-xr-x");

    open(root, false).close();

    assertThat(mode(records)).isEqualTo("rwx------");
    assertThat(mode(root)).isEqualTo("rwxr-xr-x");
  }

  @Test
  void aFolderThatIsReplacedWhileItIsInUseIsRefused() throws IOException {
    var folder = StoreFolder.personal(home.resolve("store"));
    folder.make(Instance.BUCKET);
    Files.move(home.resolve("store"), home.resolve("moved"));
    Files.createSymbolicLink(home.resolve("store"), home.resolve("moved"));

    assertThatThrownBy(() -> folder.check(Instance.BUCKET)).hasMessageContaining("symbolic link");
    assertThatThrownBy(() -> folder.make(Instance.BUCKET)).hasMessageContaining("symbolic link");
  }

  @Test
  void openPlanesSettingAllowsSharedFolders() throws IOException {
    var target = withMode(Files.createDirectory(home.resolve("target")), "rwxrwxrwx");
    var link = Files.createSymbolicLink(home.resolve("store"), target);

    open(link, true).close();

    assertThat(target.resolve(Instance.BUCKET)).isDirectory();
    assertThat(mode(target)).isEqualTo("rwxrwxrwx");
  }
}
