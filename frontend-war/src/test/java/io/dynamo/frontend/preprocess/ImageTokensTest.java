package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ImageTokensTest {
  private static final Map<String, Object> CONFIG =
      Map.of("model_type", "qwen2_vl", "image_token_id", 7);
  private static final Map<String, Object> SCALING =
      Map.of("patch_size", 14, "merge_size", 2, "min_pixels", 3136, "max_pixels", 1_003_520);

  private static @Nullable ImageTokens of(Map<String, Object> config, Map<String, Object> scaling) {
    return ImageTokens.of(Map.of("config.json", config, ImageTokens.PREPROCESSOR, scaling));
  }

  @Test
  void familiesThatAreKnownAreRead() {
    assertThat(of(CONFIG, SCALING)).isEqualTo(new ImageTokens(7, 28, 3136, 1_003_520));
    assertThat(
            of(
                Map.of("model_type", "qwen3_vl", "image_token_id", 9),
                Map.of(
                    "patch_size",
                    16,
                    "merge_size",
                    2,
                    "size",
                    Map.of("shortest_edge", 65_536, "longest_edge", 16_777_216))))
        .isEqualTo(new ImageTokens(9, 32, 65_536, 16_777_216));
  }

  @Test
  void othersAreNot() {
    assertThat(ImageTokens.of(Map.of("config.json", CONFIG))).isNull();
    assertThat(of(Map.of("model_type", "llama", "image_token_id", 7), SCALING)).isNull();
    assertThat(of(Map.of("model_type", "qwen2_vl"), SCALING)).isNull();
    assertThat(of(CONFIG, Map.of("patch_size", 14))).isNull();
  }

  @Test
  void sizesThatMakeNoGridAreNotBelieved() {
    for (var bad :
        new Object[][] {
          {0, 2, 1, 9999}, {-14, 2, 1, 9999}, {1 << 20, 1 << 20, 1, 9999}, {14, 2, 1, 5}
        }) {
      assertThat(
              of(
                  CONFIG,
                  Map.of(
                      "patch_size",
                      bad[0],
                      "merge_size",
                      bad[1],
                      "min_pixels",
                      bad[2],
                      "max_pixels",
                      bad[3])))
          .isNull();
    }
  }

  @Test
  void everyImageHasATokenAndAFiniteNumber() {
    var model = new ImageTokens(7, 28, 3136, 1_003_520);
    for (int width : new int[] {1, 27, 1000, Integer.MAX_VALUE}) {
      for (int height : new int[] {1, 27, 1000, Integer.MAX_VALUE}) {
        assertThat(model.count(width, height)).isBetween(1, 1_003_520 / 28 / 28);
      }
    }
  }
}
