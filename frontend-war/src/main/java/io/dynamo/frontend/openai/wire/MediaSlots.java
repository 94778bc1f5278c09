package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.media.MediaKind;
import io.dynamo.frontend.media.MediaPart;
import io.dynamo.inference.PassedOn;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Collects the images, videos and sounds of a conversation. Only web URLs are accepted: others
 * could name files on the worker's machine. For one thread.
 */
final class MediaSlots {
  private static final Pattern FETCHED =
      Pattern.compile("(https?|data):.", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private static final String INLINE = "data:";

  /** The type of parts that hold a sound itself. */
  static final String SOUND = "input_audio";

  private static final Pattern FORMAT = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.+_-]{0,31}");

  private final List<MediaPart> parts = new ArrayList<>();
  private final Map<String, List<@Nullable String>> uuids = new LinkedHashMap<>();
  private boolean named; // some slot has a uuid

  /** Whether parts of that type stand for media. */
  static boolean isMedia(String type) {
    return kind(type) != null;
  }

  private static @Nullable MediaKind kind(String type) {
    for (var kind : MediaKind.values()) {
      if (kind.partType().equals(type)) {
        return kind;
      }
    }
    return null;
  }

  /** Whether workers may fetch that URL. */
  static boolean isFetched(String url) {
    return FETCHED.matcher(url).lookingAt();
  }

  /**
   * Takes a part's media.
   *
   * @return the replacement that the template gets
   */
  Map<String, Object> add(String type, JsonFields part) {
    var kind = Objects.requireNonNull(kind(type));
    var source = JsonFields.of(part.require(type), part.path(type));
    var url = source.string("url");
    var uuid = part.string("uuid");
    if (uuid == null) {
      uuid = source.string("uuid");
    }
    if (url == null && uuid == null) {
      throw JsonBody.invalidBody("missing field `url` in " + part.path(type));
    }
    if (url != null && !isFetched(url)) {
      throw JsonFields.wrong(
          source.path("url"), source.require("url"), "a URL of `http`, `https` or `data`");
    }
    if (uuid != null && (uuid.isEmpty() || !type.equals("image_url"))) {
      throw JsonBody.invalidBody(
          part.path("uuid")
              + ": expected a non-empty text, and only on a part of type `image_url`");
    }
    named |= uuid != null;
    parts.add(new MediaPart(kind, url, uuid, source.path("url")));
    uuids.computeIfAbsent(type, _ -> new ArrayList<>()).add(uuid);
    return Map.of("type", kind.cardName());
  }

  /**
   * Takes the sound that a part of type {@link #SOUND} holds.
   *
   * @return the replacement that the template gets
   */
  Map<String, Object> addSound(JsonFields part) {
    var source = JsonFields.of(part.require(SOUND), part.path(SOUND));
    var format = source.requireString("format");
    if (!FORMAT.matcher(format).matches()) {
      throw JsonFields.wrong(
          source.path("format"), source.require("format"), "a format such as `wav` or `mp3`");
    }
    var data = source.requireString("data");
    if (data.isEmpty() || data.regionMatches(true, 0, INLINE, 0, INLINE.length())) {
      throw JsonFields.wrong(
          source.path("data"), source.require("data"), "the sound in base64, without `data:`");
    }
    if (part.string("uuid") != null) {
      throw JsonBody.invalidBody(
          part.path("uuid") + ": only a part of type `image_url` may have one");
    }
    var type = format.equalsIgnoreCase("mp3") ? "mpeg" : format.toLowerCase(Locale.ROOT);
    var url = INLINE + "audio/" + type + ";base64," + data;
    parts.add(new MediaPart(MediaKind.AUDIO, url, null, source.path("data")));
    uuids.computeIfAbsent(MediaKind.AUDIO.partType(), _ -> new ArrayList<>()).add(null);
    return Map.of("type", MediaKind.AUDIO.cardName());
  }

  /** The media in the order of the messages. */
  List<MediaPart> parts() {
    return List.copyOf(parts);
  }

  /**
   * The fields for the worker beside the media, with the original messages; empty without media.
   *
   * @param body of the request
   */
  PassedOn passedOn(JsonNode body) {
    if (parts.isEmpty()) {
      return PassedOn.NONE;
    }
    var fields = new LinkedHashMap<String, Object>();
    if (named) {
      fields.put("multi_modal_uuids", uuids);
    }
    fields.put("messages", withoutInline(JsonFields.plainValue(body.get("messages"))));
    return PassedOn.of(fields);
  }

  /** The messages without their media, which are sent once, in their slots. */
  private static Object withoutInline(Object value) {
    if (value instanceof List<?> list) {
      return list.stream().map(MediaSlots::withoutInline).toList();
    }
    if (!(value instanceof Map<?, ?> map)) {
      return value;
    }
    var copy = new LinkedHashMap<String, @Nullable Object>();
    for (var entry : map.entrySet()) {
      var inner = entry.getValue();
      boolean inline =
          "url".equals(entry.getKey())
              && inner instanceof String url
              && url.regionMatches(true, 0, INLINE, 0, INLINE.length());
      boolean sound = SOUND.equals(entry.getKey()) && inner instanceof Map<?, ?>;
      copy.put(
          String.valueOf(entry.getKey()),
          inline ? "" : sound ? Map.of() : inner == null ? null : withoutInline(inner));
    }
    return copy;
  }
}
