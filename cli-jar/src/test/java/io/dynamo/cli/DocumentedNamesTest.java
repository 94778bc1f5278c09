package io.dynamo.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.OfflineSettings;
import io.dynamo.config.key.InvalidSettingsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Everything that the pages name exists: commands with options, settings, scripts, tests, links.
 */
class DocumentedNamesTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
  private static final Pattern COMMAND =
      Pattern.compile("(?:^|[`/ ])dynamo ([a-z]+)((?: +[^`\\n#]*)?)", Pattern.MULTILINE);
  private static final Pattern OPTION = Pattern.compile("(?<=\\s)--[a-z][a-z-]*");
  private static final Pattern VARIABLE = Pattern.compile("\\bDYNAMO_[A-Z0-9_]*[A-Z0-9]\\b");
  private static final Pattern CLASS =
      Pattern.compile("-D(?:it\\.test|test|bench|stress)=([A-Z]\\w+)");
  private static final Pattern MESSAGE = Pattern.compile("^\\| `([^`]+)` \\|");
  private static final Pattern SCRIPT = Pattern.compile("\\.ci/[a-z-]+");
  private static final Pattern PROFILE = Pattern.compile("\\bmvn\\b[^`\\n]* -P([a-z]+)");

  /** Read by other programs than a server, or an example of what Kubernetes makes of a service. */
  private static final Set<String> OTHER_VARIABLES =
      Set.of("DYNAMO_CONFIG_FILE", "DYNAMO_TEST_PEER", "DYNAMO_FRONTEND_PORT_8000_TCP");

  /** A page. */
  private record Page(Path file, String text) {
    String name() {
      return ROOT.relativize(file).toString();
    }
  }

  private static List<Page> pages() throws IOException {
    try (var docs = Files.walk(ROOT.resolve("docs"))) {
      return Stream.concat(
              Stream.of(ROOT.resolve("README.md"), ROOT.resolve("CONTRIBUTING.md")),
              docs.filter(file -> file.toString().endsWith(".md")).sorted())
          .map(file -> new Page(file, read(file)))
          .toList();
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Every match of a group in the pages, with the page for messages. */
  private static Map<String, String> found(Pattern pattern, int group) throws IOException {
    var found = new TreeMap<String, String>();
    for (var page : pages()) {
      var matcher = pattern.matcher(page.text());
      while (matcher.find()) {
        if (matcher.group(group) != null) {
          found.put(matcher.group(group), page.name());
        }
      }
    }
    assertThat(found).isNotEmpty();
    return found;
  }

  @Test
  void everyCommandOfTheCommandLineExistsWithItsOptions() throws IOException {
    var commands = DynamoCommand.parser().getSubcommands();
    var serve = read(ROOT.resolve("liberty/src/archive/bin/dynamo"));
    var wrong = new TreeSet<String>();
    for (var page : pages()) {
      var matcher = COMMAND.matcher(page.text());
      while (matcher.find()) {
        var name = matcher.group(1);
        var command = commands.get(name);
        if (command == null && !name.equals("serve")) {
          wrong.add(page.name() + ": dynamo " + name);
          continue;
        }
        var option = OPTION.matcher(matcher.group(2));
        while (option.find()) {
          boolean known =
              command == null
                  ? serve.contains("  " + option.group() + " ")
                  : command.getCommandSpec().findOption(option.group()) != null;
          if (!known) {
            wrong.add(page.name() + ": dynamo " + name + " " + option.group());
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void everyCommandHasItsLineInThePage() {
    var page = read(ROOT.resolve("docs/command-line.md"));

    assertThat(DynamoCommand.parser().getSubcommands().keySet())
        .allMatch(command -> page.contains("`dynamo " + command));
  }

  @Test
  void everyVariableOfASettingExists() throws IOException {
    var names = found(VARIABLE, 0);
    names.keySet().removeAll(OTHER_VARIABLES);
    var environment = names.keySet().stream().collect(Collectors.toMap(name -> name, _ -> "1"));
    List<String> problems = List.of();
    try {
      OfflineSettings.of(environment, null).read();
    } catch (InvalidSettingsException e) {
      problems = e.problems();
    }

    assertThat(problems.stream().filter(problem -> problem.contains("is no setting")).toList())
        .as("in %s", names)
        .isEmpty();
  }

  @Test
  void everyVariableOfDynamoInACommandHasAnEffect() throws IOException {
    var names = found(Pattern.compile("\\bDYN_[A-Z0-9_]+(?==)"), 0);
    var environment = names.keySet().stream().collect(Collectors.toMap(name -> name, _ -> "1"));

    assertThat(OfflineSettings.of(environment, null).variablesWithoutEffect()).isNull();
  }

  @Test
  void everyScriptExists() throws IOException {
    assertThat(found(SCRIPT, 0))
        .allSatisfy((name, page) -> assertThat(ROOT.resolve(name)).exists());
  }

  @Test
  void everyProfileExists() throws IOException {
    var poms = new StringBuilder();
    try (var files = Files.walk(ROOT, 2)) {
      files.filter(file -> file.endsWith("pom.xml")).forEach(file -> poms.append(read(file)));
    }

    assertThat(found(PROFILE, 1))
        .allSatisfy((name, page) -> assertThat(poms).as(page).contains("<id>" + name + "</id>"));
  }

  /** Benchmarks are named by a part of their names. */
  @Test
  void everyTestThatACommandNamesExists() throws IOException {
    var sources = sources().map(file -> file.getFileName().toString()).toList();

    assertThat(
            found(CLASS, 1).keySet().stream()
                .filter(name -> sources.stream().noneMatch(source -> source.contains(name))))
        .isEmpty();
  }

  /** Each message that a page quotes stands in the sources. */
  @Test
  void everyMessageToLookForIsPrinted() throws IOException {
    var text = new StringBuilder(read(ROOT.resolve("liberty/src/archive/bin/dynamo")));
    sources()
        .filter(file -> file.toString().contains("/src/main/"))
        .forEach(file -> text.append(read(file).replaceAll("\"\\s*\\+\\s*\"", "")));
    var messages =
        read(ROOT.resolve("docs/troubleshooting.md"))
            .lines()
            .map(MESSAGE::matcher)
            .filter(Matcher::find)
            .map(row -> row.group(1))
            .toList();

    assertThat(messages).hasSizeGreaterThan(15);
    assertThat(messages.stream().filter(message -> text.indexOf(message) < 0)).isEmpty();
  }

  private static Stream<Path> sources() throws IOException {
    try (var files = Files.walk(ROOT)) {
      return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
    }
  }

  @Test
  void everyLinkLeadsToAPageAndItsHeading() throws IOException {
    var broken = new TreeSet<String>();
    for (var page : pages()) {
      var matcher = LINK.matcher(page.text());
      while (matcher.find()) {
        var link = matcher.group(1);
        if (link.contains("://")) {
          continue;
        }
        var parts = link.split("#", 2);
        var target =
            parts[0].isEmpty() ? page.file() : page.file().resolveSibling(parts[0]).normalize();
        if (!Files.exists(target)) {
          broken.add(page.name() + ": " + link);
        } else if (parts.length > 1 && !headings(target).contains(parts[1])) {
          broken.add(page.name() + ": " + link + " has no such heading");
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  /** The names of a page's headings in links. */
  private static List<String> headings(Path page) {
    return Arrays.stream(read(page).split("\n"))
        .filter(line -> line.startsWith("#"))
        .map(line -> line.replaceFirst("^#+ *", "").toLowerCase(Locale.ROOT))
        .map(line -> line.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
        .toList();
  }
}
