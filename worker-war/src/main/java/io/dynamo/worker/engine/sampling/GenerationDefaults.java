package io.dynamo.worker.engine.sampling;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The generation defaults of a Hugging Face model directory, used where a request sets nothing.
 * Arrays are owned by the record and never changed.
 *
 * @param ends ids at which the model's own texts end
 * @param sampling defaults of sampling options
 */
public record GenerationDefaults(int[] ends, SamplingPlan.Defaults sampling) {
  /**
   * Reads {@code generation_config.json}, and {@code config.json} for end ids that the first does
   * not name.
   *
   * @throws IllegalArgumentException when a file is broken
   * @throws UncheckedIOException when a file cannot be read
   */
  public static GenerationDefaults of(Path directory) {
    var generation = json(directory.resolve("generation_config.json"));
    var ends = ends(generation);
    return new GenerationDefaults(
        ends.length == 0 ? ends(json(directory.resolve("config.json"))) : ends,
        sampling(generation));
  }

  private static JsonObject json(Path file) {
    try {
      return Files.isRegularFile(file)
          ? Json.readObject(Files.readAllBytes(file))
          : new JsonObject(Map.of());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
  }

  private static int[] ends(JsonObject config) {
    return switch (config.members().get("eos_token_id")) {
      case Number one -> new int[] {one.intValue()};
      case List<?> several ->
          several.stream()
              .flatMapToInt(
                  id -> id instanceof Number n ? IntStream.of(n.intValue()) : IntStream.empty())
              .toArray();
      case null, default -> new int[0];
    };
  }

  private static SamplingPlan.Defaults sampling(JsonObject generation) {
    var members = generation.members();
    if (!Boolean.TRUE.equals(members.get("do_sample"))) {
      return SamplingPlan.Defaults.GREEDY;
    }
    return new SamplingPlan.Defaults(
        number(members.get("temperature"), 1f),
        (int) number(members.get("top_k"), 0f),
        number(members.get("top_p"), 1f));
  }

  private static float number(@Nullable Object value, float otherwise) {
    return value instanceof Number number ? number.floatValue() : otherwise;
  }
}
