package io.dynamo.frontend.preprocess;

import io.dynamo.frontend.preprocess.bpe.TooManyTokensException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Encodes text in parts: a prompt is cut where its tokenizer provably joins nothing, and cached
 * parts are not encoded again. The ids equal those of the whole text. Safe for concurrent use.
 */
final class PromptEncoder implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(PromptEncoder.class.getName());

  /** Shorter parts are joined with the next: they cost more to remember than to encode. */
  private static final int SHORTEST_PART = 256;

  private final TextEncoder encoder;
  private final @Nullable SafeCuts cuts;
  private final @Nullable PrefixCache cache;

  /**
   * @param tokenizer the parsed {@code tokenizer.json}
   * @param cache null encodes every text whole
   */
  PromptEncoder(TextEncoder encoder, Map<?, ?> tokenizer, @Nullable PrefixCache cache) {
    boolean on = cache != null && cache.isOn();
    this.encoder = encoder;
    this.cuts = on ? SafeCuts.of(tokenizer) : null;
    this.cache = cuts == null ? null : cache;
    if (on && cuts == null) {
      LOG.log(
          Level.INFO,
          "prompts of a tokenizer are encoded whole, without the prefix cache: no place is known"
              + " where their text could be cut");
    }
  }

  int[] encode(String text, int maxTokens) {
    var whole = WellFormed.of(text);
    return cuts == null || cache == null || whole.length() < SHORTEST_PART
        ? encoder.encode(whole, maxTokens)
        : encode(whole, maxTokens, cuts, cache);
  }

  /** As {@link TextEncoder#maxTokenChars}. */
  int maxTokenChars(int longestToken) {
    return encoder.maxTokenChars(longestToken);
  }

  private int[] encode(String text, int maxTokens, SafeCuts cuts, PrefixCache cache) {
    var parts = new ArrayList<int[]>();
    var walk = cuts.walk(text);
    int total = 0;
    int cached = 0;
    int start = 0;
    while (start < text.length()) {
      int end = walk.next();
      while (end < text.length() && end - start < SHORTEST_PART) {
        end = walk.next();
      }
      int[] ids = null;
      if (end == text.length()) { // the end of a prompt changes with each turn
        ids = encoder.encode(start == 0 ? text : text.substring(start), maxTokens - total);
      } else {
        var part = text.substring(start, end);
        ids = cache.find(this, part);
        if (ids == null) {
          ids = encoder.encode(part, maxTokens - total);
          cache.keep(this, part, ids);
        } else {
          cached += ids.length;
        }
      }
      parts.add(ids);
      total += ids.length;
      if (total > maxTokens) {
        throw new TooManyTokensException(maxTokens);
      }
      start = end;
    }
    cache.count(cached, total - cached);
    return parts.size() == 1 ? parts.getFirst() : joined(parts, total);
  }

  private static int[] joined(List<int[]> parts, int total) {
    var ids = new int[total];
    int at = 0;
    for (var part : parts) {
      System.arraycopy(part, 0, ids, at, part.length);
      at += part.length;
    }
    return ids;
  }

  /** Frees the tokenizer and its cached parts. Idempotent. */
  @Override
  public void close() {
    encoder.close();
    if (cache != null) {
      cache.forget(this);
    }
  }
}
