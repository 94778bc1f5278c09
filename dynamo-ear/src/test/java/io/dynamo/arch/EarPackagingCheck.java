package io.dynamo.arch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;

/** Opens the built EAR. Runs after packaging, named apart so that the unit tests leave it alone. */
class EarPackagingCheck {
  private static final LocalDateTime DATE_OF_ALL_OTHER_ARCHIVES =
      LocalDateTime.of(2026, 1, 1, 0, 0);
  private static final Path EAR = Path.of(System.getProperty("dynamo.ear"));

  @Test
  void theWarsCarryNoLibrary() throws IOException {
    var wars = new ArrayList<String>();
    try (var ear = open(Files.newInputStream(EAR))) {
      for (var entry = ear.getNextEntry(); entry != null; entry = ear.getNextEntry()) {
        if (entry.getName().endsWith(".war")) {
          wars.add(entry.getName());
          assertThat(names(ear)).as(entry.getName()).noneMatch(n -> n.matches("WEB-INF/lib/.+"));
        }
      }
    }
    assertThat(wars).hasSize(2);
  }

  @Test
  void noLibraryBringsAnApiOfTheServer() throws IOException {
    assertThat(ownersOfClasses().keySet())
        .isNotEmpty()
        .noneMatch(name -> name.startsWith("jakarta/"))
        .noneMatch(name -> name.startsWith("org/eclipse/microprofile/"));
  }

  @Test
  void eachClassIsThereOnce() throws IOException {
    assertThat(ownersOfClasses()).allSatisfy((name, jars) -> assertThat(jars).as(name).hasSize(1));
  }

  /**
   * A server that has unpacked a module goes on with it while the date of its entry is the same.
   */
  @Test
  void theDateOfEntriesFollowsFromTheirContent() throws IOException {
    var dates = new HashSet<LocalDateTime>();
    try (var ear = open(Files.newInputStream(EAR))) {
      for (var entry = ear.getNextEntry(); entry != null; entry = ear.getNextEntry()) {
        if (entry.getName().endsWith("ar")) {
          dates.add(entry.getTimeLocal());
        }
      }
    }
    assertThat(dates).hasSize(1).doesNotContain(DATE_OF_ALL_OTHER_ARCHIVES);
  }

  /** Class files of EAR/lib and the EJB jar by the jars that hold them. */
  private static Map<String, List<String>> ownersOfClasses() throws IOException {
    var owners = new HashMap<String, List<String>>();
    try (var ear = open(Files.newInputStream(EAR))) {
      for (var entry = ear.getNextEntry(); entry != null; entry = ear.getNextEntry()) {
        if (entry.getName().endsWith(".jar")) {
          for (var name : names(ear)) {
            if (name.endsWith(".class") && !name.matches("META-INF/.*|(.*/)?module-info\\.class")) {
              owners.computeIfAbsent(name, _ -> new ArrayList<>()).add(entry.getName());
            }
          }
        }
      }
    }
    return owners;
  }

  private static List<String> names(InputStream archive) throws IOException {
    var names = new ArrayList<String>();
    var zip = open(archive); // not closed: the outer stream goes on
    for (var entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
      names.add(entry.getName());
    }
    return names;
  }

  private static ZipInputStream open(InputStream archive) {
    return new ZipInputStream(archive);
  }
}
