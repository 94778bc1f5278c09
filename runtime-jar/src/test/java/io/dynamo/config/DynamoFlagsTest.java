package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Every flag of Dynamo's frontend and mocker, as their packages print them, has a line in the page
 * about them. Run with {@code -Ddocs.write=true} to write the lines anew.
 */
class DynamoFlagsTest {
  private static final Path PAGE = Path.of("..", "docs", "upgrade.md");
  private static final String HEADING = "## Dynamo's flags here\n";
  private static final Pattern KEY = Pattern.compile("`(dynamo\\.[a-z0-9.-]+)`");

  /** Values of flags that this server refuses when it starts, each with its reason. */
  private static final List<String> REFUSED_CHOICES = List.of("DYN_RESPONSE_PLANE=quic");

  /**
   * A flag with its spellings.
   *
   * @param env the variable that stands for it; null for none
   * @param standard the default as the help has it
   */
  private record Flag(
      List<String> names, @Nullable String env, String standard, List<String> choices) {
    String cell() {
      return names.stream()
          .filter(name -> !name.startsWith("--no-") || names.size() == 1)
          .map(name -> "`" + name + "`")
          .collect(Collectors.joining(", "));
    }
  }

  private static byte[] resource(String name) throws IOException {
    try (var in = Objects.requireNonNull(DynamoFlagsTest.class.getResourceAsStream(name))) {
      return in.readAllBytes();
    }
  }

  private static List<Flag> flags(String program) throws IOException {
    var flags = new ArrayList<Flag>();
    for (var each : Json.readObject(resource("/golden/cli-flags.json")).optionalObjects(program)) {
      flags.add(
          new Flag(
              texts(each, "flags"),
              each.optionalText("env"),
              Objects.requireNonNullElse(each.optionalText("default"), ""),
              texts(each, "choices")));
    }
    assertThat(flags).hasSizeGreaterThan(90);
    return flags;
  }

  private static List<String> texts(JsonObject object, String member) {
    var texts = new ArrayList<String>();
    if (object.members().get(member) instanceof List<?> list) {
      list.forEach(each -> texts.add(String.valueOf(each)));
    }
    return texts;
  }

  /** Returns the settings or reasons of flags without a variable, by each of their spellings. */
  private static Map<String, String> withoutVariables() throws IOException {
    var found = new LinkedHashMap<String, String>();
    var lines =
        new String(resource("/flags-without-variables.txt"), StandardCharsets.UTF_8).lines();
    for (var line : lines.toList()) {
      var parts = line.split(" \\| ", 2);
      for (var name : parts[0].split(" ", -1)) {
        assertThat(found.put(name, parts[1])).as(name).isNull();
      }
    }
    return found;
  }

  /** Returns the setting of a flag, or why there is none; null when nothing is known of it. */
  private static @Nullable String here(Flag flag, Map<String, String> others) {
    if (flag.env == null) {
      var all = new TreeSet<String>();
      flag.names.forEach(name -> all.add(String.valueOf(others.get(name))));
      assertThat(all).as("%s", flag.names).hasSize(1);
      return others.get(flag.names.getFirst());
    }
    var keys =
        SettingKeys.all().stream()
            .filter(key -> key.aliases().stream().anyMatch(it -> it.variable().equals(flag.env)))
            .toList();
    if (keys.size() == 1) {
      var key = keys.getFirst();
      var standard = key.standard().isEmpty() ? "not set" : "`" + key.standard() + "`";
      return "`%s`, %s".formatted(key.name(), standard);
    }
    if (!keys.isEmpty()) {
      return keys.stream().map(key -> "`" + key.name() + "`").collect(Collectors.joining(", "));
    }
    var refusals = UnsupportedVariables.refusals(Map.of(flag.env, "x"), _ -> null);
    if (!refusals.isEmpty()) {
      return "refused when the server starts: "
          + refusals.getFirst().replaceFirst(".* is not supported: ", "");
    }
    var reason = UnsupportedVariables.reason(flag.env);
    return reason.equals(UnsupportedVariables.UNKNOWN) ? null : "none: " + reason;
  }

  private static String section() throws IOException {
    var text =
        new StringBuilder(
            HEADING
                + """

                The server takes no flags of Dynamo's; `dynamo serve` refuses what it does not know. The variable that stands for a flag is read where a setting
                stands in the last column, with its default here. Where none does, the variable is named in a warning at the start with the reason given here, or refused where that says so
                ([which](configuration.md)).

                `python -m dynamo.frontend` 1.6.1:

                | flag | variable | default there | here |
                | --- | --- | --- | --- |
                """);
    var others = withoutVariables();
    for (var flag : flags("dynamo.frontend")) {
      text.append(
          "| %s | %s | %s | %s |%n"
              .formatted(
                  flag.cell(),
                  flag.env == null ? "" : "`" + flag.env + "`",
                  flag.standard.equals("None") ? "" : flag.standard,
                  here(flag, others)));
    }
    text.append(
        """

        `python -m dynamo.mocker` 1.6.1, which is `dynamo.worker.engine=mock` here. What it takes of the router's flags above stands in `dynamo.worker.router-config`.

        | flag | default there | here |
        | --- | --- | --- |
        """);
    for (var flag : flags("dynamo.mocker")) {
      if (flag.env == null) {
        text.append("| %s | %s | %s |%n".formatted(flag.cell(), flag.standard, here(flag, others)));
      }
    }
    return text.toString();
  }

  @Test
  void everyFlagIsASettingOrHasAReason() throws IOException {
    var others = withoutVariables();
    var known = new HashSet<String>();
    SettingKeys.all().forEach(key -> known.add(key.name()));
    var without = new ArrayList<String>();
    for (var program : List.of("dynamo.frontend", "dynamo.mocker")) {
      for (var flag : flags(program)) {
        var here = here(flag, others);
        if (here == null) {
          without.add(program + " " + flag.names);
        } else if (KEY.matcher(here).results().anyMatch(key -> !known.contains(key.group(1)))) {
          without.add(program + " " + flag.names + ": no such setting: " + here);
        }
      }
    }
    assertThat(without).isEmpty();
  }

  @Test
  void noLineIsForAFlagThatIsNone() throws IOException {
    var names = new HashSet<String>();
    for (var program : List.of("dynamo.frontend", "dynamo.mocker")) {
      flags(program).stream().filter(flag -> flag.env == null).forEach(f -> names.addAll(f.names));
    }
    assertThat(withoutVariables().keySet()).isEqualTo(names);
  }

  @Test
  void flagsOfTheMockerWithVariablesAreThoseOfTheFrontend() throws IOException {
    var frontend = flags("dynamo.frontend").stream().map(Flag::env).toList();

    assertThat(flags("dynamo.mocker"))
        .filteredOn(flag -> flag.env != null)
        .hasSizeGreaterThan(30)
        .allMatch(flag -> frontend.contains(flag.env));
  }

  /** Dynamo's words for a value are read as such, or refused in a sentence that has the value. */
  @Test
  void everyChoiceIsTakenOrRefusedByName() throws IOException {
    var refused = new ArrayList<String>();
    for (var flag : flags("dynamo.frontend")) {
      for (var choice : flag.choices) {
        for (var problem : problems(Map.of(Objects.requireNonNull(flag.env), choice))) {
          if (problem.contains(flag.env)) {
            assertThat(problem).contains(choice);
            refused.add(flag.env + "=" + choice);
          }
        }
      }
    }
    assertThat(refused).containsExactlyElementsOf(REFUSED_CHOICES);
  }

  private static List<String> problems(Map<String, String> environment) throws IOException {
    try {
      OfflineSettings.of(environment, null).read();
      return List.of();
    } catch (InvalidSettingsException e) {
      return e.problems();
    }
  }

  @Test
  void thePageHasEveryFlag() throws IOException {
    var section = section();
    var page = Files.readString(PAGE);
    if (Boolean.getBoolean("docs.write")) {
      int start = page.indexOf(HEADING);
      page = (start < 0 ? page + "\n" : page.substring(0, start)) + section;
      Files.writeString(PAGE, page);
    }

    assertThat(page)
        .as("run: mvn -pl runtime-jar -am test -Dtest=DynamoFlagsTest -Ddocs.write=true")
        .endsWith(section);
  }
}
