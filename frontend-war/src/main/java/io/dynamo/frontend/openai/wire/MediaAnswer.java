package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.inference.TaskOutput;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Images, videos or speech as workers give them: items of one answer, each with a part of the list
 * {@code data}. For one thread.
 */
public final class MediaAnswer {
  private static final String DATA = "data";
  private static final String BASE64 = "b64_json";
  private static final String FORMAT = "output_format";

  /** The keys of an answer of images, all of which clients see. */
  private static final List<String> OF_IMAGES =
      List.of("background", FORMAT, "size", "quality", "usage");

  private static final List<String> OF_JOBS = List.of("id", "model", "status");
  private static final int NODE_BYTES = 64; // of a value, beside its text

  private final TaskRequest.Kind kind;
  private final Map<String, Object> whole = new LinkedHashMap<>();
  private final List<Object> data = new ArrayList<>();

  public MediaAnswer(TaskRequest.Kind kind) {
    this.kind = kind;
  }

  /**
   * The fields of an item.
   *
   * @throws EngineFailedException when it does not have the form of {@code kind}
   */
  public static Map<?, ?> fields(TaskRequest.Kind kind, TaskOutput item) {
    if (!(item.json() instanceof Map<?, ?> fields)) {
      throw broken(kind, "an item is no map", null);
    }
    if (!(fields.get("created") instanceof Number)) {
      throw broken(kind, "an item has no number `created`", null);
    }
    if (!(fields.get(DATA) instanceof List<?> list)) {
      throw broken(kind, "an item has no list `data`", null);
    }
    boolean images = isImages(kind);
    if (!images && OF_JOBS.stream().anyMatch(key -> !(fields.get(key) instanceof String))) {
      throw broken(kind, "an item lacks one of the texts " + OF_JOBS, null);
    }
    for (var each : list) {
      if (!(each instanceof Map<?, ?> entry)
          || (images && !(entry.get("url") instanceof String) && base64(entry) == null)
          || (kind == TaskRequest.Kind.SPEECH && !(entry.get(FORMAT) instanceof String))) {
        throw broken(kind, "an entry of `data` does not have its form", null);
      }
    }
    return fields;
  }

  private static boolean isImages(TaskRequest.Kind kind) {
    return kind == TaskRequest.Kind.IMAGES || kind == TaskRequest.Kind.IMAGE_EDITS;
  }

  /**
   * Adds an item. Images have the fields of the first item, videos and speech those of the last.
   *
   * @throws EngineFailedException when it does not have the form
   */
  public void add(TaskOutput item) {
    var fields = fields(kind, item);
    data.addAll((List<?>) fields.get(DATA));
    if (!isImages(kind) || whole.isEmpty()) {
      fields.forEach((key, value) -> whole.put(String.valueOf(key), value));
    }
  }

  /** The answer as UTF-8 JSON. */
  public byte[] json() {
    var answer = new LinkedHashMap<String, @Nullable Object>();
    if (isImages(kind)) {
      answer.put("created", whole.get("created"));
      answer.put(DATA, data);
      for (var key : OF_IMAGES) {
        answer.put(key, whole.get(key));
      }
    } else {
      answer.putAll(whole);
      answer.put(DATA, data);
    }
    return json(kind, answer);
  }

  /** A value of a worker's answer as UTF-8 JSON. */
  public static byte[] json(TaskRequest.Kind kind, Object value) {
    try {
      return JsonBody.write(value);
    } catch (JsonProcessingException e) {
      throw broken(kind, "it cannot be written as JSON", e);
    }
  }

  /** Whether the worker reports that it could not do the work. */
  public static boolean isFailed(Map<?, ?> item) {
    return "failed".equals(item.get("status"));
  }

  /** Whether the worker reports that it could not do the work. */
  public boolean isFailed() {
    return isFailed(whole);
  }

  /** Joins the bytes of all entries, or returns null when there are none. */
  public byte @Nullable [] bytes() {
    return joined(kind, data);
  }

  /** Joins the bytes of the entries of an item, or returns null when there are none. */
  public static byte @Nullable [] bytes(TaskRequest.Kind kind, Map<?, ?> item) {
    return item.get(DATA) instanceof List<?> list ? joined(kind, list) : null;
  }

  private static byte @Nullable [] joined(TaskRequest.Kind kind, List<?> entries) {
    var parts = new ArrayList<byte[]>(entries.size());
    long length = 0;
    for (var entry : entries) {
      var text = entry instanceof Map<?, ?> map ? base64(map) : null;
      if (text != null) {
        var part = decoded(text);
        if (part == null) {
          throw broken(kind, "its data is no base64", null);
        }
        parts.add(part);
        length += part.length;
      }
    }
    if (parts.isEmpty()) {
      return null;
    }
    if (parts.size() == 1) {
      return parts.getFirst();
    }
    var all = new byte[Math.toIntExact(length)];
    int at = 0;
    for (var part : parts) {
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return all;
  }

  /** The picture of an item of frames; null when it has none that can be decoded. */
  public static byte @Nullable [] frame(Map<?, ?> item) {
    var text =
        item.get(DATA) instanceof List<?> list
                && !list.isEmpty()
                && list.getFirst() instanceof Map<?, ?> entry
            ? base64(entry)
            : null;
    return text == null ? null : decoded(text);
  }

  private static @Nullable String base64(Map<?, ?> entry) {
    return entry.get(BASE64) instanceof String text ? text : null;
  }

  private static byte @Nullable [] decoded(String text) {
    try {
      return Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** The content type of an item of speech. */
  public static String soundType(Map<?, ?> item) {
    return soundType(item.get(DATA) instanceof List<?> list ? list : List.of());
  }

  /** The content type of speech. */
  public String soundType() {
    return soundType(data);
  }

  private static String soundType(List<?> data) {
    var format =
        !data.isEmpty()
                && data.getFirst() instanceof Map<?, ?> entry
                && entry.get(FORMAT) instanceof String named
            ? named
            : "";
    return switch (format) {
      case "mp3" -> "audio/mpeg";
      case "opus" -> "audio/ogg; codecs=opus";
      case "aac", "flac", "pcm" -> "audio/" + format;
      default -> "audio/wav";
    };
  }

  /** About how many bytes of heap an item takes. */
  public static long heapBytes(@Nullable Object value) {
    return switch (value) {
      case String text -> NODE_BYTES + (long) text.length();
      case byte[] bytes -> NODE_BYTES + 2L * bytes.length; // they are written as base64
      case Map<?, ?> map -> {
        long sum = NODE_BYTES;
        for (var entry : map.entrySet()) {
          sum += heapBytes(entry.getKey()) + heapBytes(entry.getValue());
        }
        yield sum;
      }
      case List<?> list -> {
        long sum = NODE_BYTES;
        for (var element : list) {
          sum += heapBytes(element);
        }
        yield sum;
      }
      case null, default -> NODE_BYTES;
    };
  }

  private static EngineFailedException broken(
      TaskRequest.Kind kind, String reason, @Nullable Exception cause) {
    return new EngineFailedException(
        ErrorCode.BACKEND_UNKNOWN,
        "the worker's answer is none to a request of %s: %s".formatted(kind.endpoint(), reason),
        cause);
  }
}
