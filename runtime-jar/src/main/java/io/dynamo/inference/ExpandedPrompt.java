package io.dynamo.inference;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A prompt as KV caches hold it: each image's placeholder is replaced by as many tokens as the
 * image takes, with ids made from the image's hash. Routers and workers hash these tokens in place
 * of those of the prompt. Dynamo's {@code mm_routing_info}. The array is owned by the record and
 * never changed.
 */
public record ExpandedPrompt(int[] tokenIds) {
  /** The field of a request to a worker. */
  public static final String FIELD = "mm_routing_info";

  /** The most tokens of an expanded prompt, which is Dynamo's bound. */
  public static final int MAX_TOKENS = 1 << 20;

  private static final String TOKENS = "routing_token_ids";
  private static final String BLOCKS = "block_mm_infos";
  private static final String LENGTH = "expanded_prompt_len";

  /** Returns the tokens that caches know {@code request} by: expanded where it has images. */
  public static int[] tokensOf(GenerateRequest request) {
    var expanded = of(request.passedOn());
    return expanded == null ? request.tokenIds() : expanded.tokenIds;
  }

  /**
   * Reads the field of a request; returns null when there is none, or one that gives the images
   * beside the tokens, which no release since 1.6 writes.
   */
  static @Nullable ExpandedPrompt of(PassedOn fields) {
    if (!(fields.get(FIELD) instanceof Map<?, ?> info)
        || (info.get(BLOCKS) instanceof List<?> blocks
            && blocks.stream().anyMatch(it -> it != null))) {
      return null;
    }
    var ids = ids(info.get(TOKENS));
    if (ids == null) {
      return null;
    }
    return info.get(LENGTH) instanceof Number length
            && length.longValue() > 0
            && length.longValue() < ids.length
        ? new ExpandedPrompt(Arrays.copyOf(ids, length.intValue()))
        : new ExpandedPrompt(ids);
  }

  private static int @Nullable [] ids(@Nullable Object value) {
    if (value instanceof int[] ids) {
      return ids;
    }
    if (!(value instanceof Collection<?> list) || list.isEmpty() || list.size() > MAX_TOKENS) {
      return null;
    }
    var ids = new int[list.size()];
    int at = 0;
    for (var id : list) {
      if (!(id instanceof Number number)) {
        return null;
      }
      ids[at++] = number.intValue();
    }
    return ids;
  }

  /** Returns this prompt followed by {@code delivered} tokens of its answer. */
  ExpandedPrompt followedBy(int[] delivered) {
    var ids = Arrays.copyOf(tokenIds, tokenIds.length + delivered.length);
    System.arraycopy(delivered, 0, ids, tokenIds.length, delivered.length);
    return new ExpandedPrompt(ids);
  }

  /**
   * Returns the value of the field, filled up with zeros to whole blocks as Dynamo does.
   *
   * @param blockTokens tokens per KV block; 1 fills nothing up
   */
  public Map<String, Object> toField(int blockTokens) {
    int blocks = Math.ceilDiv(tokenIds.length, blockTokens);
    var field = new LinkedHashMap<String, Object>();
    field.put(TOKENS, Arrays.copyOf(tokenIds, Math.multiplyExact(blocks, blockTokens)));
    field.put(BLOCKS, List.of());
    field.put(LENGTH, tokenIds.length);
    return field;
  }
}
