package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dynamo.config.key.SettingKey;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsListingTest {
  @Test
  void everySettingIsListedWithItsValueAndSource(@TempDir Path dir) throws IOException {
    var file = dir.resolve("microprofile-config.properties");
    Files.writeString(file, "dynamo.http.port=9001\ndynamo.namespace=file\n");

    var listing =
        OfflineSettings.of(
                Map.of(
                    "DYNAMO_NAMESPACE", "own",
                    "DYN_NAMESPACE", "alias",
                    "DYN_TCP_REQUEST_TIMEOUT", "7",
                    "OTEL_EXPORTER_OTLP_HEADERS", "key=secret"),
                file)
            .listing("");

    assertThat(listing.rows())
        .extracting(row -> row.key().name())
        .containsExactlyElementsOf(SettingKeys.all().stream().map(SettingKey::name).toList());
    assertThat(listing.text())
        .contains("dynamo.http.port = 9001 (" + file + ")\n    the HTTP port\n")
        .contains("    integer, 0 to 65535; default 8000; DYNAMO_HTTP_PORT, DYN_HTTP_PORT\n")
        .contains("dynamo.namespace = own (the variable DYNAMO_NAMESPACE)\n")
        .contains("dynamo.frontend.namespace = alias (the variable DYN_NAMESPACE)\n")
        .contains(
            "dynamo.request.tcp.request-timeout = 7s (the variable DYN_TCP_REQUEST_TIMEOUT)\n")
        .contains("DYN_TCP_REQUEST_TIMEOUT (s)\n")
        .contains("dynamo.http.host = 127.0.0.1 (default)\n")
        .contains("dynamo.http.tls.key is not set (default)\n")
        .contains("dynamo.trace.headers = ***")
        .doesNotContain("secret=", "key=secret");
  }

  @Test
  void settingsAreDumpedAsJson(@TempDir Path dir) throws IOException {
    var file = dir.resolve("dump.json");

    OfflineSettings.of(Map.of("DYN_HTTP_PORT", "9001"), null).listing("").writeJson(file);

    var dump = Json.readObject(Files.readAllBytes(file));
    assertThat(dump.members()).hasSameSizeAs(SettingKeys.all());
    assertThat(dump.members().get("dynamo.http.port"))
        .isEqualTo(JsonObject.ordered("value", "9001", "source", "the variable DYN_HTTP_PORT"));
  }

  @Test
  void dumpToAFolderThatIsNotThereIsRefusedByItsKey(@TempDir Path dir) throws IOException {
    var listing = OfflineSettings.of(Map.of(), null).listing("");

    assertThatIllegalArgumentException()
        .isThrownBy(() -> listing.writeJson(dir.resolve("none/dump.json")))
        .withMessageContaining("dynamo.config.dump-to = ")
        .withMessageContaining("cannot be written");
  }

  @Test
  void commandNeedsTheJdkAlone(@TempDir Path dir) throws IOException, InterruptedException {
    var classes =
        Path.of(
            SettingsPrinter.class.getProtectionDomain().getCodeSource().getLocation().getPath());
    var out = dir.resolve("out.txt").toFile();
    var builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                classes.toString(),
                SettingsPrinter.class.getName())
            .redirectErrorStream(true)
            .redirectOutput(out);
    builder.environment().put("DYN_HTTP_PORT", "9001");
    builder.environment().put("DYN_TYPO", "1");

    var process = builder.start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }

    assertThat(Files.readString(out.toPath()))
        .contains("dynamo.http.port = 9001 (the variable DYN_HTTP_PORT)")
        .contains("without effect here: DYN_TYPO (");
    assertThat(process.exitValue()).isZero();
  }
}
