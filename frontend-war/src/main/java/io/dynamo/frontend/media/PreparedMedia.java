package io.dynamo.frontend.media;

import io.dynamo.inference.ExpandedPrompt;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The media of a request as they go to workers.
 *
 * @param slots by part type, in the order of the messages, as in JSON; empty for none
 * @param hashes of the images, as workers read them; empty when routers do not know the prompt by
 *     its images
 * @param expanded the prompt by which routers know it; null when {@code hashes} are empty
 * @param routing the same as workers get it, in whole blocks; shared by the requests to them
 * @param heldBytes of heap beside the request
 */
public record PreparedMedia(
    Map<String, List<Map<String, Object>>> slots,
    List<String> hashes,
    @Nullable ExpandedPrompt expanded,
    Map<String, Object> routing,
    long heldBytes) {
  public static final PreparedMedia NONE = new PreparedMedia(Map.of(), 0);

  static final String SLOTS = "multi_modal_data";
  private static final String HASHES = "mm_hashes";

  /** Media of a prompt that routers know by its text alone. */
  PreparedMedia(Map<String, List<Map<String, Object>>> slots, long heldBytes) {
    this(slots, List.of(), null, Map.of(), heldBytes);
  }

  /** Returns the media of a request that are passed on as they came. */
  static PreparedMedia unread(List<MediaPart> parts) {
    return new PreparedMedia(slots(parts, Map.of()), 0);
  }

  /**
   * Returns the slots of a request's media.
   *
   * @param read slots of media that were read, by the index of their part
   */
  static Map<String, List<Map<String, Object>>> slots(
      List<MediaPart> parts, Map<Integer, Map<String, Object>> read) {
    var slots = new LinkedHashMap<String, List<Map<String, Object>>>();
    for (int i = 0; i < parts.size(); i++) {
      var part = parts.get(i);
      var own = read.get(i);
      slots
          .computeIfAbsent(part.kind().partType(), _ -> new ArrayList<>())
          .add(own == null ? unread(part) : own);
    }
    return slots;
  }

  private static Map<String, Object> unread(MediaPart part) {
    var url = part.url();
    return url == null ? Map.of("UuidOnly", String.valueOf(part.uuid())) : Map.of("Url", url);
  }

  /**
   * Adds the fields to a request to a worker.
   *
   * @param fields top-level fields
   * @param extra the entries of {@code extra_args}
   */
  public void addTo(Map<String, Object> fields, Map<String, Object> extra) {
    if (!slots.isEmpty()) {
      fields.put(SLOTS, slots);
    }
    if (!routing.isEmpty()) {
      fields.put(ExpandedPrompt.FIELD, routing);
      extra.put(HASHES, hashes);
    }
  }
}
