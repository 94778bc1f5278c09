package io.dynamo.frontend.preprocess;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Parses JSON to maps, lists, strings, numbers, booleans and null, in the order of the text.
 * Extensions that model folders use (comments, trailing commas, infinities) are accepted. Buffers
 * are not pooled: the pool is a thread-local, which would keep a stopped application's class
 * loader. Nor are names: the text may come from a client, who could make a shared table of names
 * overflow.
 */
final class JsonTree {
  private static final JsonFactory LENIENT =
      JsonFactory.builder()
          .recyclerPool(JsonRecyclerPools.nonRecyclingPool())
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .enable(JsonReadFeature.ALLOW_JAVA_COMMENTS)
          .enable(JsonReadFeature.ALLOW_TRAILING_COMMA)
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .enable(JsonReadFeature.ALLOW_SINGLE_QUOTES)
          .enable(JsonReadFeature.ALLOW_UNQUOTED_FIELD_NAMES)
          .build();
  private static final JsonFactory STRICT =
      JsonFactory.builder()
          .recyclerPool(JsonRecyclerPools.nonRecyclingPool())
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .build();

  private JsonTree() {}

  /**
   * The value a model's file holds.
   *
   * @throws IllegalArgumentException when the text is not JSON, naming {@code file}
   */
  static @Nullable Object ofFile(String file, String text) {
    try {
      return read(LENIENT, text);
    } catch (IOException e) {
      throw new IllegalArgumentException(file + " is not JSON: " + e.getMessage(), e);
    }
  }

  /** The object {@code text} spells, or null when it spells something else. */
  static @Nullable Map<?, ?> objectOrNull(String text) {
    try {
      return read(STRICT, text) instanceof Map<?, ?> object ? object : null;
    } catch (IOException e) {
      return null;
    }
  }

  private static @Nullable Object read(JsonFactory factory, String text) throws IOException {
    try (var parser = factory.createParser(text)) {
      parser.nextToken();
      var value = value(parser);
      if (parser.nextToken() != null) {
        throw new IOException("more than one value");
      }
      return value;
    }
  }

  private static @Nullable Object value(JsonParser parser) throws IOException {
    JsonToken token = parser.currentToken();
    if (token == null) {
      throw new IOException("nothing there");
    }
    return switch (token) {
      case START_OBJECT -> {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          var name = parser.currentName();
          parser.nextToken();
          object.put(name, value(parser));
        }
        yield object;
      }
      case START_ARRAY -> {
        List<@Nullable Object> array = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          array.add(value(parser));
        }
        yield array;
      }
      case VALUE_STRING -> parser.getText();
      case VALUE_NUMBER_INT -> parser.getNumberValue();
      case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> throw new IOException("unexpected " + token);
    };
  }
}
