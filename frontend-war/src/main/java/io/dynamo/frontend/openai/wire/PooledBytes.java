package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.inference.TaskOutput;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An answer to a request of pooling in binary form.
 *
 * @param body the numbers of all inputs, one after the other
 * @param metadata where each input's numbers lie, as ASCII JSON; null when it is not wanted
 */
public record PooledBytes(byte[] body, @Nullable String metadata) {
  private static final int MAX_METADATA = 16 << 10; // of a header
  private static final Map<String, Integer> SIZES =
      Map.of("float32", 4, "float16", 2, "bfloat16", 2, "fp8_e4m3", 1, "fp8_e5m2", 1);

  /**
   * Joins the numbers of a worker's answer, which has those of each input as base64.
   *
   * @param request for the form of the numbers, where the worker does not say it
   * @throws EngineFailedException when the answer does not have the form
   */
  public static PooledBytes of(TaskRequest request, TaskOutput output) {
    if (!(output.json() instanceof Map<?, ?> answer
        && answer.get("data") instanceof List<?> items)) {
      throw broken("it has no list `data`");
    }
    var body = new ByteArrayOutputStream();
    var places = new ArrayList<Map<String, Object>>();
    for (var each : items) {
      if (!(each instanceof Map<?, ?> item && item.get("data") instanceof String text)) {
        throw broken("the output of input %d is no base64".formatted(places.size()));
      }
      int start = body.size();
      body.writeBytes(decoded(text, places.size()));
      places.add(place(request, item, places.size(), start, body.size()));
    }
    if (!request.wantsMetadata()) {
      return new PooledBytes(body.toByteArray(), null);
    }
    var metadata = new LinkedHashMap<String, Object>();
    putIfPresent(metadata, "id", answer.get("id"));
    putIfPresent(metadata, "created", answer.get("created"));
    putIfPresent(metadata, "model", answer.get("model"));
    metadata.put("data", places);
    putIfPresent(metadata, "usage", answer.get("usage"));
    var text = ascii(metadata);
    if (text.length() > MAX_METADATA) {
      throw broken("its metadata has more than %d characters".formatted(MAX_METADATA));
    }
    return new PooledBytes(body.toByteArray(), text);
  }

  private static byte[] decoded(String text, int index) {
    try {
      return Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw broken("the output of input %d is no base64".formatted(index));
    }
  }

  private static Map<String, Object> place(
      TaskRequest request, Map<?, ?> item, int index, int start, int end) {
    var type =
        item.get("embed_dtype") instanceof String given
            ? given
            : request.body().getOrDefault("embed_dtype", "float32");
    var order =
        item.get("endianness") instanceof String given
            ? given
            : request.body().getOrDefault("endianness", "native");
    var place = new LinkedHashMap<String, Object>();
    place.put("index", index);
    place.put("embed_dtype", type);
    place.put("endianness", order);
    place.put("start", start);
    place.put("end", end);
    if (item.get("shape") instanceof List<?> shape) {
      place.put("shape", shape);
    } else {
      var size = SIZES.get(type);
      if (size == null || (end - start) % size != 0) {
        throw broken(
            "the output of input %d has %d bytes, no whole numbers of %s"
                .formatted(index, end - start, type));
      }
      place.put("shape", List.of((end - start) / size));
    }
    return place;
  }

  private static void putIfPresent(Map<String, Object> map, String name, @Nullable Object value) {
    if (value != null) {
      map.put(name, value);
    }
  }

  /** JSON that a header may hold: any other character is escaped. */
  private static String ascii(Map<String, Object> value) {
    String json;
    try {
      json = new String(JsonBody.write(value), StandardCharsets.UTF_8);
    } catch (JsonProcessingException e) {
      throw broken("it cannot be written");
    }
    var ascii = new StringBuilder(json.length());
    for (int i = 0; i < json.length(); i++) {
      char c = json.charAt(i);
      if (c < 0x7f && c >= ' ') {
        ascii.append(c);
      } else {
        ascii.append("\\u%04x".formatted((int) c));
      }
    }
    return ascii.toString();
  }

  private static EngineFailedException broken(String why) {
    return new EngineFailedException(
        ErrorCode.BACKEND_UNKNOWN,
        "the worker's answer is none to a request of bytes: " + why,
        null);
  }
}
