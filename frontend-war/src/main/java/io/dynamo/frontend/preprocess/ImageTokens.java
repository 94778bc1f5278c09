package io.dynamo.frontend.preprocess;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How many tokens an image takes in the prompts of a model, by its configuration. Known for the
 * models of the families Qwen2-VL, Qwen2.5-VL and Qwen3-VL: an image is scaled so that its sides
 * are multiples of a cell and its pixels within bounds, and each cell is a token. Immutable.
 *
 * @param placeholder the token that the template writes for an image
 * @param cell pixels of the side of a token's square
 */
public record ImageTokens(int placeholder, int cell, long minPixels, long maxPixels) {
  static final String PREPROCESSOR = "preprocessor_config.json";
  private static final Set<String> FAMILIES =
      Set.of("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe");
  private static final int MAX_CELL = 4096;
  private static final int STEEPEST = 200; // one side to the other; the model refuses steeper ones

  /**
   * Reads a model's configuration.
   *
   * @param files parsed files by name
   * @return null when it has no images, or they are counted in a way that is not known here
   */
  static @Nullable ImageTokens of(Map<String, Map<?, ?>> files) {
    var config = files.getOrDefault(EosTokens.CONFIG, Map.of());
    var image = files.get(PREPROCESSOR);
    if (image == null || !FAMILIES.contains(String.valueOf(config.get("model_type")))) {
      return null;
    }
    var placeholder = number(config.get("image_token_id"));
    var patch = number(image.get("patch_size"));
    var merge = number(image.get("merge_size"));
    var size = image.get("size") instanceof Map<?, ?> sides ? sides : Map.of();
    var least = first(image.get("min_pixels"), size.get("shortest_edge"));
    var most = first(image.get("max_pixels"), size.get("longest_edge"));
    if (placeholder == null || patch == null || merge == null || least == null || most == null) {
      return null;
    }
    long cell = (long) patch * merge;
    return cell < 1 || cell > MAX_CELL || most < cell * cell
        ? null
        : new ImageTokens(placeholder, (int) cell, least, most);
  }

  private static @Nullable Integer first(@Nullable Object value, @Nullable Object other) {
    var number = number(value);
    return number == null ? number(other) : number;
  }

  private static @Nullable Integer number(@Nullable Object value) {
    return value instanceof Integer number && number >= 0 ? number : null;
  }

  /** Returns the tokens of an image, at least 1. */
  public int count(int width, int height) {
    if ((long) Math.max(width, height) > (long) STEEPEST * Math.min(width, height)) {
      return 1;
    }
    double area = (double) width * height;
    double across = Math.max(1, Math.rint((double) width / cell)); // half to even, as Python rounds
    double down = Math.max(1, Math.rint((double) height / cell));
    double pixels = across * down * cell * cell;
    if (pixels > maxPixels) {
      double shrink = Math.sqrt(area / maxPixels);
      across = Math.max(1, Math.floor(width / shrink / cell));
      down = Math.max(1, Math.floor(height / shrink / cell));
    } else if (pixels < minPixels) {
      double stretch = Math.sqrt(minPixels / area);
      across = Math.ceil(width * stretch / cell);
      down = Math.ceil(height * stretch / cell);
    }
    return (int) Math.max(1, across * down); // a cast to int saturates
  }
}
