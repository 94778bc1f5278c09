package io.dynamo.token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Names of active blocks, against those that the published release gave. */
class TrackingKeyTest {
  record Recorded(String key, String id, JsonNode request) {
    BlockHasher hasher() {
      var blockTokens = request.path("block_size").intValue();
      var salt = request.path("cache_salt").asText(null);
      var lora = request.path("lora_name").asText(null);
      boolean eagle = request.path("is_eagle").asBoolean();
      if (key.isEmpty()) {
        var plain = BlockHasher.of(blockTokens, lora, salt);
        return eagle ? plain.eagle() : plain;
      }
      return new TrackingKey(HexFormat.of().parseHex(key), id)
          .hasher(
              request.path("model").asText(),
              request.path("routing_group").asText(),
              blockTokens,
              salt,
              lora,
              eagle);
    }
  }

  static List<Recorded> recorded() throws IOException {
    try (var in = TrackingKeyTest.class.getResourceAsStream("/golden/router/tracking-hash.json")) {
      var cases = new ArrayList<Recorded>();
      for (var group : new ObjectMapper().readTree(in).path("groups")) {
        for (var it : group.path("cases")) {
          cases.add(
              new Recorded(group.path("key_hex").asText(""), group.path("key_id").asText(""), it));
        }
      }
      return cases;
    }
  }

  @Test
  void theRecordingIsWhole() throws IOException {
    assertThat(recorded()).hasSize(54);
    assertThat(recorded()).filteredOn(it -> !it.key.isEmpty()).hasSize(36);
  }

  @ParameterizedTest
  @MethodSource("recorded")
  void agreesWithTheRecordedRelease(Recorded it) {
    var hashes =
        it.hasher()
            .hash(
                BlockHasherTest.tokens(it.request.path("tokens")),
                BlockHasherTest.media(it.request.path("mm_hashes_per_block")));

    assertThat(
            IntStream.range(0, hashes.length())
                .mapToObj(i -> Long.toUnsignedString(hashes.sequence(i))))
        .isEqualTo(BlockHasherTest.strings(it.request.path("sequence_hashes")));
  }

  @Test
  void keyFileErrorsRevealNeitherPathNorContent(@TempDir Path folder) throws IOException {
    var file = folder.resolve("tracking.key");
    for (var content : List.of("", "secret", "s".repeat(33))) {
      Files.writeString(file, content);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> TrackingKey.read(file, "2026-01"))
          .satisfies(
              e ->
                  assertThat(e.getMessage())
                      .contains("32")
                      .doesNotContain("tracking.key", "secret", "sss"));
    }
    Files.delete(file);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TrackingKey.read(file, "2026-01"))
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("tracking.key"))
        .withNoCause();

    Files.writeString(file, "k".repeat(32));
    assertThat(TrackingKey.read(file, "2026-01")).hasToString("tracking key 2026-01");
  }
}
