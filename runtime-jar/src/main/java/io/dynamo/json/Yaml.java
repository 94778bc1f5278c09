package io.dynamo.json;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.util.Map;
import org.yaml.snakeyaml.LoaderOptions;

/**
 * Reads YAML as {@link Json} reads JSON. Lengths, nesting and aliases are bounded. Safe for
 * concurrent use.
 */
public final class Yaml {
  private static final int MAX_CHARACTERS = 1 << 20;
  private static final int MAX_DEPTH = 32;
  private static final ObjectMapper MAPPER = new ObjectMapper(factory());

  private Yaml() {}

  private static YAMLFactory factory() {
    var options = new LoaderOptions();
    options.setCodePointLimit(MAX_CHARACTERS);
    options.setNestingDepthLimit(MAX_DEPTH);
    options.setAllowDuplicateKeys(false);
    return YAMLFactory.builder()
        .loaderOptions(options)
        .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
        .build();
  }

  /**
   * Reads a document that is a mapping.
   *
   * @throws IllegalArgumentException when {@code text} is not one
   */
  public static JsonObject readObject(String text) {
    try {
      if (MAPPER.readValue(text, Object.class) instanceof Map<?, ?> map) {
        return JsonObject.of(map);
      }
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("is not YAML: " + e.getOriginalMessage(), e);
    }
    throw new IllegalArgumentException("is YAML, but not a mapping");
  }
}
