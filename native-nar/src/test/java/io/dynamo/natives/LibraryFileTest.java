package io.dynamo.natives;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibraryFileTest {
  private static final LibraryFile.Source SOURCE =
      () -> new ByteArrayInputStream(new byte[] {1, 2, 3});

  @TempDir Path home;
  private String first;
  private String second;

  @BeforeEach
  void makeTheFolders() throws IOException {
    first = Files.createDirectory(home.resolve("first")).toString();
    second = Files.createDirectory(home.resolve("second")).toString();
  }

  @Test
  void loadsACopyOfItsOwnAndLeavesNoFileBehind() throws IOException {
    var loaded = new ArrayList<Path>();
    for (var round = 0; round < 2; round++) {
      var outcome =
          LibraryFile.load(
              "lib",
              SOURCE,
              List.of(first, second),
              file -> {
                assertThat(file).hasBinaryContent(new byte[] {1, 2, 3});
                loaded.add(file);
              });
      assertThat(outcome.directory()).isEqualTo(Path.of(first));
      assertThat(outcome.refusals()).isEmpty();
    }
    assertThat(loaded).doesNotHaveDuplicates().hasSize(2);
    assertThat(Path.of(first)).isEmptyDirectory();
  }

  @Test
  void aFolderThatMayNotBeExecutedFromIsPassedOverWithTheReason() {
    var outcome =
        LibraryFile.load(
            "lib",
            SOURCE,
            List.of(first, second),
            file -> {
              if (file.startsWith(first)) {
                throw new UnsatisfiedLinkError("failed to map segment from shared object");
              }
            });
    assertThat(outcome.directory()).isEqualTo(Path.of(second));
    assertThat(outcome.refusals())
        .singleElement()
        .asString()
        .contains(first, "failed to map segment");
    assertThat(Path.of(first)).isEmptyDirectory();
  }

  @Test
  void nobodyElseCanReachTheFileThatIsLoaded() {
    LibraryFile.load(
        "lib",
        SOURCE,
        List.of(first),
        file -> {
          assertThat(mode(file.resolveSibling(""))).isEqualTo("rwx------");
          assertThat(file.getParent()).hasParent(Path.of(first));
        });
    assertThat(Path.of(first)).isEmptyDirectory();
  }

  @Test
  void aFolderInWhichOthersCouldReplaceTheFileIsPassedOverUnlessItIsSticky() throws IOException {
    Files.setAttribute(Path.of(first), "unix:mode", 0777);
    Files.setAttribute(Path.of(second), "unix:mode", 01777);

    var outcome = LibraryFile.load("lib", SOURCE, List.of(first, second), file -> {});

    assertThat(outcome.directory()).isEqualTo(Path.of(second));
    assertThat(outcome.refusals()).singleElement().asString().contains(first, "mode 777");
  }

  private static String mode(Path file) {
    try {
      return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void everyRefusalIsKeptWhenNoFolderWillDo() {
    var outcome =
        LibraryFile.load(
            "lib",
            SOURCE,
            List.of("/proc/missing", "bad\0name", second),
            file -> {
              throw new UnsatisfiedLinkError("wrong ELF class");
            });
    assertThat(outcome.directory()).isNull();
    assertThat(outcome.refusals()).hasSize(3);
    assertThat(outcome.refusals().get(0)).contains("/proc/missing", "NoSuchFileException");
    assertThat(outcome.refusals().get(1)).contains("InvalidPathException");
    assertThat(outcome.refusals().get(2)).contains("wrong ELF class");
  }

  @Test
  void aPlatformWithoutALibraryIsSaidToHaveNone() {
    var outcome = LibraryFile.load("Plan9/lib", () -> null, List.of(first, second), file -> {});
    assertThat(outcome.directory()).isNull();
    assertThat(outcome.refusals()).containsExactly("there is no Plan9/lib for this platform");
  }
}
