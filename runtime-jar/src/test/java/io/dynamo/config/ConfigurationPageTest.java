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
            original Dynamo (last column), the operator's file (the one that `DYNAMO_CONFIG_FILE` names, else
            `${server.config.dir}/microprofile-config.properties`), the default. All are read once, when the server starts. One page lists every bad value at once, each with the
            variable or the file that it comes from, and the process ends with status 78 before it opens a port. A name that
            begins with `DYNAMO_` or `dynamo.` and is no setting is refused in the same way, wherever it stands, but for the
            variables that Kubernetes makes of services.

            Variables of the original Dynamo and of what it builds on (`DYN_`, `ETCD_`, `NATS_`, `HF_`, `OTEL_`, `KVBM_`, `NIXL_`) that
            stand for no setting are named in one warning at the start, each with the reason. The server does not start with one
            that would send data elsewhere: `DYN_RESPONSE_PLANE` other than tcp, `DYN_DISAGGREGATION_MODE`
            other than agg, `DYN_NAMESPACE_WORKER_SUFFIX`, `DYN_ENDPOINT`, `DYN_ZMQ_BROKER_ENABLED` without `DYN_ZMQ_BROKER_URL`,
            and `ETCD_ENDPOINTS` or `DYN_KV_STORE` where no `dynamo.discovery.backend` is set. Backends and planes that are not in
            the table, Kubernetes among them, are refused as bad values.

            All settings with their values, where these are from, bounds and names in the environment, without a server:

            ```sh
            dynamo settings --config dynamo.properties
            ```

            It reads the environment and the named file; [command-line.md](command-line.md) has the rest. `DYN_DUMP_CONFIG_TO` makes a server write the
            values that it has read to a file when it starts. Values that may hold credentials are shown as `***`.

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
