package io.dynamo.runtime.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.EndpointId;
import io.dynamo.json.Json;
import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelDirectory;
import io.dynamo.model.ModelFile;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.testing.ManualAlarms;
import io.dynamo.testing.ManualClock;
import io.dynamo.testing.TestSettings;
import io.dynamo.testing.TestStatus;
import io.dynamo.wire.Golden;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostedFilesTest {
  private static final EndpointId ENDPOINT = EndpointId.parse("dynamo.backend.generate");
  private static final EventLoops LOOPS = new EventLoops(1); // daemons, shared, never closed

  private static ModelCard card(String config) {
    return new ModelCard(
        "tiny",
        "tiny",
        "/models/tiny",
        new ModelFile(config, "blake3:00", 1L),
        null,
        null,
        null,
        null,
        null,
        0,
        16,
        0,
        Set.of("Chat"),
        "Tokens",
        null,
        List.of(),
        Map.of());
  }

  private static @Nullable String announced(HostedFiles files, String config) {
    var file = files.add(ENDPOINT, card(config), null).card().config();
    return file == null ? null : file.path();
  }

  @Test
  void filesAreAnnouncedAsDynamoDoes() {
    var captured =
        Json.readObject(Golden.bytes("model-card/aggregated-self-hosted.json"))
            .object("card_json")
            .object("model_info")
            .object("hf_config_json")
            .text("path");
    var files = new HostedFiles();
    files.announce(URI.create("http://10.0.0.7:18181"));
    assertThat(announced(files, "/models/tiny/config.json"))
        .isEqualTo(captured.replaceFirst(":\\d+/v1", ":18181/v1"));
  }

  @Test
  void filesKeepTheirPathsWhereNobodyServesThem() {
    var files = new HostedFiles();
    assertThat(announced(files, "/models/tiny/config.json")).isEqualTo("/models/tiny/config.json");
    files.announce(URI.create("http://10.0.0.7:18181"));
    assertThat(announced(files, "http://elsewhere/config.json"))
        .isEqualTo("http://elsewhere/config.json");
  }

  @Test
  void extraFilesAreListedOnlyWhereTheyAreHosted(@TempDir Path model) throws Exception {
    for (var name : List.of("config.json", "tokenizer.json", "tokenizer_config.json")) {
      Files.writeString(model.resolve(name), "{}");
    }
    Files.writeString(model.resolve("special_tokens_map.json"), "{}");
    var card = ModelDirectory.open(model).card("tiny", 16, Map.of());
    var files = new HostedFiles();

    assertThat(files.add(ENDPOINT, card, null).card().extraFiles()).isEmpty();
    files.announce(URI.create("http://10.0.0.7:18181"));
    var hosted = files.add(ENDPOINT, card, null).card();

    var path = "/v1/metadata/dynamo/backend/generate/tiny/_base/special_tokens_map.json";
    assertThat(hosted.extraFiles())
        .extracting(ModelFile::path)
        .containsExactly("http://10.0.0.7:18181" + path);
    assertThat(files.find(path.substring(HostedFiles.ROUTE.length())))
        .isEqualTo(model.resolve("special_tokens_map.json"));
  }

  @Test
  void aStatusServerOnLoopbackIsNotAnnouncedToOtherMachines() throws Exception {
    assertThat(announcedBy("127.0.0.1", "127.0.0.1")).startsWith("http://127.0.0.1:");
    assertThat(announcedBy("127.0.0.1", "10.0.0.7")).isEqualTo("/models/tiny/config.json");
    assertThat(announcedBy("0.0.0.0", "10.0.0.7")).startsWith("http://10.0.0.7:");
  }

  private static @Nullable String announcedBy(String host, String planes) {
    var clock = ManualClock.now();
    var status = TestStatus.with(Map.of(), new ManualAlarms(clock), clock);
    var settings =
        TestSettings.with(
                Map.of(
                    "dynamo.system.port",
                    "0",
                    "dynamo.system.host",
                    host,
                    "dynamo.security.insecure",
                    "true"))
            .status();
    try (var _ =
        new StatusServer(
            settings, LOOPS, InetAddress.ofLiteral(planes), status, List.of(), () -> "")) {
      return announced(status.files(), "/models/tiny/config.json");
    }
  }
}
