package io.dynamo.frontend.media;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.frontend.preprocess.ImageTokens;
import io.dynamo.token.MediaHasher;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests that Dynamo 1.6.1's frontend sent to a worker for images of many sizes. */
class ImageRoutingGoldenTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int BLOCK = 16;
  private static final Map<String, ImageTokens> MODELS =
      Map.of(
          "qwen2_vl", new ImageTokens(4098, 28, 3136, 12_845_056),
          "qwen2_5_vl", new ImageTokens(4098, 28, 3136, 1_003_520),
          "qwen3_vl", new ImageTokens(4098, 32, 65_536, 16_777_216));

  record Recorded(JsonNode line) {
    ImageTokens model() {
      return Objects.requireNonNull(MODELS.get(line.get("model").asText()));
    }

    @Override
    public String toString() {
      return "%s %s x %s".formatted(line.get("model"), line.get("width"), line.get("height"));
    }
  }

  static List<Recorded> recorded() throws Exception {
    var lines = new ArrayList<Recorded>();
    try (var in =
        new BufferedReader(
            new InputStreamReader(
                Objects.requireNonNull(
                    ImageRoutingGoldenTest.class.getResourceAsStream(
                        "/golden/media/image-routing.jsonl")),
                StandardCharsets.UTF_8))) {
      for (var line = in.readLine(); line != null; line = in.readLine()) {
        lines.add(new Recorded(JSON.readTree(line)));
      }
    }
    return lines;
  }

  static Stream<Recorded> whole() throws Exception {
    return recorded().stream().filter(it -> it.line.has("url"));
  }

  @ParameterizedTest
  @MethodSource("recorded")
  void imagesTakeAsManyTokensAsThere(Recorded it) {
    assertThat(it.model().count(it.line.get("width").asInt(), it.line.get("height").asInt()))
        .isEqualTo(it.line.get("image_tokens").asInt());
  }

  @ParameterizedTest
  @MethodSource("whole")
  void promptsAreExpandedAsThere(Recorded it) throws Exception {
    var url = it.line.get("url").asText();
    var header = Objects.requireNonNull(ImageHeader.of(DataUrl.parse(url).decodeHead(64)));
    var image = new MeasuredImage(MediaHasher.ofUrl(url), header.width(), header.height());
    var tokens = ints(it.line.get("token_ids"));
    var expanded = Objects.requireNonNull(PromptExpansion.of(tokens, it.model(), List.of(image)));

    assertThat(image.hex()).isEqualTo(it.line.get("mm_hashes").get(0).asText());
    var field = new LinkedHashMap<>(expanded.toField(BLOCK));
    assertThat((int[]) field.remove("routing_token_ids"))
        .isEqualTo(ints(it.line.at("/mm_routing_info/routing_token_ids")));
    assertThat(field)
        .containsExactly(
            Map.entry("block_mm_infos", List.of()),
            Map.entry(
                "expanded_prompt_len", it.line.at("/mm_routing_info/expanded_prompt_len").asInt()));
  }

  @Test
  void allAreThere() throws Exception {
    assertThat(recorded()).hasSize(99);
    assertThat(whole()).hasSize(9);
  }

  private static int[] ints(JsonNode list) {
    var ints = new int[list.size()];
    for (int i = 0; i < ints.length; i++) {
      ints[i] = list.get(i).asInt();
    }
    return ints;
  }
}
