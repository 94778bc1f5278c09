package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Run with {@code -Ddocs.write=true} to write the page anew. */
class ConfigurationPageTest {
  private static final Path PAGE = Path.of("..", "docs", "configuration.md");

  @Test
  void theDocumentationListsEverySettingAsTheCodeHasIt() throws IOException {
    var page = page();
    if (Boolean.getBoolean("docs.write")) {
      Files.createDirectories(PAGE.getParent());
      Files.writeString(PAGE, page);
    }

    assertThat(PAGE)
        .as("run: mvn -pl runtime-jar -am test -Dtest=ConfigurationPageTest -Ddocs.write=true")
        .hasContent(page);
  }

  private static String page() {
    var page =
        new StringBuilder(
            """
            # Configuration

            Settings are MicroProfile Config properties. The highest of these wins: the server's own variables, system
            properties, environment variables (`dynamo.http.port` is `DYNAMO_HTTP_PORT`), the environment names of the
            original Dynamo (last column), the operator's file `${server.config.dir}/microprofile-config.properties`,
            the default. All are read once, when the server starts. One page lists every bad value at once, each with the
            variable or the file that it comes from, and the process ends with status 78 before it opens a port. A name that
            begins with `DYNAMO_` or `dynamo.` and is no setting is refused in the same way, wherever it stands, but for the
            variables that Kubernetes makes of services. Variables of the original Dynamo (`DYN_`) without a meaning here are a
            warning.

            Durations are written as `500ms`, `10s`, `2m` or ISO 8601 (`PT10S`), sizes in bytes or as `64KiB`, `32MiB`.
            Numbers of the original environment names keep their original unit.

            | Key | Default | Type and bound | Meaning | Original name |
            | --- | --- | --- | --- | --- |
            """);
    for (var key : SettingKeys.all()) {
      var alias = key.aliases().isEmpty() ? null : key.aliases().getLast();
      page.append(
          "| `%s` | %s | %s%s | %s | %s |%n"
              .formatted(
                  key.name(),
                  key.standard().isEmpty() ? "" : "`" + key.standard() + "`",
                  key.type().name(),
                  key.bound().text().isEmpty() ? "" : ", " + key.bound().text(),
                  key.meaning(),
                  alias == null
                      ? ""
                      : "`%s`%s"
                          .formatted(
                              alias.variable(),
                              alias.unit().isEmpty() ? "" : " (" + alias.unit() + ")")));
    }
    return page.toString();
  }
}
