package io.dynamo.arch;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds the compiled classes of all modules against the rules. */
class ArchitectureTest {
  private static final ArchitectureRules RULES = new ArchitectureRules("io.dynamo");
  private static final JavaClasses PRODUCT = new ClassFileImporter().importPaths(classFolders());

  static Stream<String> rules() {
    return RULES.byName().keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("rules")
  void holds(String rule) {
    RULES.named(rule).check(PRODUCT);
  }

  @Test
  void everyModuleIsLookedAt() {
    assertThat(PRODUCT.stream().map(type -> type.getPackageName()))
        .contains("io.dynamo.natives", "io.dynamo.runtime", "io.dynamo.router")
        .anyMatch(name -> name.startsWith("io.dynamo.frontend."))
        .anyMatch(name -> name.startsWith("io.dynamo.worker."));
  }

  @Test
  void theGuideNamesEveryPackage() throws IOException {
    var guide = Files.readString(Path.of("../docs/architecture.md"));
    assertThat(
            PRODUCT.stream()
                .map(type -> type.getPackageName().substring("io.dynamo.".length()))
                .distinct())
        .allSatisfy(name -> assertThat(guide).containsPattern(mentionOf(name)));
  }

  /** In the row of its module, or for the runtime in that of what it is a part of. */
  private static String mentionOf(String name) {
    var parts = name.split("\\.", 2);
    return parts.length == 2 && Set.of("frontend", "router", "worker").contains(parts[0])
        ? "(?m)^\\| `" + parts[0] + "` \\| .*`" + Pattern.quote(parts[1]) + "`"
        : "`" + parts[0] + "[`.]";
  }

  private static List<Path> classFolders() {
    var root = Path.of("..").toAbsolutePath().normalize();
    try (var modules = Files.list(root)) {
      return modules
          .map(module -> module.resolve("target/classes"))
          .filter(Files::isDirectory)
          .toList();
    } catch (IOException unreadable) {
      throw new IllegalStateException("no modules at " + root, unreadable);
    }
  }
}
