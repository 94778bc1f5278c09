package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Set;

/**
 * Checks fields of engines' own routes that name something to load: an engine would take a plain
 * text for a file of the worker's machine.
 */
final class EngineSources {
  private static final Set<String> MEDIA = Set.of("image_data", "video_data", "audio_data");
  private static final Set<String> FILES = Set.of("lora_path");

  private EngineSources() {}

  /**
   * @throws io.dynamo.frontend.ApiException when the field names a file
   */
  static void check(String field, JsonNode value) {
    if (FILES.contains(field) && !value.isNull()) {
      throw GenerationReader.refusePlainly(
          field, "`%s` names files of workers; name the adapter in `model`".formatted(field));
    }
    if (MEDIA.contains(field)) {
      checkMedia(field, value);
    }
  }

  private static void checkMedia(String field, JsonNode value) {
    if (value.isTextual() && !MediaSlots.isFetched(value.textValue())) {
      throw GenerationReader.refusePlainly(
          field,
          "`%s` takes URLs of `http`, `https` or `data`; a picture itself is sent as `data:image/png;base64,…`"
              .formatted(field));
    }
    for (var part : value) {
      checkMedia(field, part);
    }
  }
}
