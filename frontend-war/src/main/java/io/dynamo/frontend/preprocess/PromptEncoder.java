package io.dynamo.frontend.preprocess;

import io.dynamo.frontend.preprocess.bpe.ByteLevelBpe;
import io.dynamo.frontend.preprocess.bpe.TokenList;
import io.dynamo.frontend.preprocess.bpe.TooManyTokensException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Encodes prompts with a cache of their beginnings. A whole text is cut where its tokenizer
 * provably joins nothing, and its ids equal those of the whole; a prompt in parts is cut before
 * control tokens. Safe for concurrent use.
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
    this.cache = on ? cache : null;
    if (on && cuts == null) {
      LOG.log(
          Level.INFO,
          "prompts of a tokenizer are encoded whole, without the prefix cache: no place is known"
              + " where their text could be cut");
    }
  }

  /** As {@link ModelText#encode(PromptText, int)}. */
  int[] encode(PromptText prompt, int maxTokens) {
    return prompt.isWhole()
        ? encodeWhole(prompt.text(), maxTokens)
        : encodeParts(prompt, maxTokens);
  }

  private int[] encodeWhole(String text, int maxTokens) {
    var whole = WellFormed.of(text);
    return cuts == null || cache == null || whole.length() < SHORTEST_PART
        ? encoder.encode(whole, maxTokens)
        : encode(whole, maxTokens, cuts, cache);
  }

  private int[] encodeParts(PromptText prompt, int maxTokens) {
    var ids = new TokenList(prompt.text().length() / 3, maxTokens);
    int cached = 0;
    for (int from = 0; from < prompt.parts(); ) {
      ByteLevelBpe.checkWanted();
      int to = runEnd(prompt, from);
      if (cache == null || to == prompt.parts()) { // the end of a prompt changes with each turn
        encodeRun(prompt, from, to, ids);
      } else {
        var key = key(prompt, from, to);
        var found = cache.find(this, key);
        if (found == null) {
          int start = ids.size();
          encodeRun(prompt, from, to, ids);
          cache.keep(this, key, ids.from(start));
        } else {
          ids.addAll(found);
          cached += found.length;
        }
      }
      from = to;
    }
    if (cache != null && prompt.text().length() >= SHORTEST_PART) {
      cache.count(cached, ids.size() - cached);
    }
    return ids.toArray();
  }

  /** Where the parts from {@code from} on are cut: before a control token. */
  private static int runEnd(PromptText prompt, int from) {
    int end = from;
    int length = 0;
    do {
      length += prompt.length(end);
      end++;
    } while (end < prompt.parts() && (length < SHORTEST_PART || !prompt.isControl(end)));
    return end;
  }

  private void encodeRun(PromptText prompt, int from, int to, TokenList ids) {
    for (int i = from; i < to; i++) {
      var part = WellFormed.of(prompt.part(i));
      int left = ids.left();
      ids.addAll(
          prompt.isControl(i) ? encoder.encode(part, left) : encoder.encodeOrdinary(part, left));
    }
  }

  /**
   * The key of a run of parts in the cache, which no other run and no whole text has: each part
   * with its kind before it, behind a NUL character, which no well-formed text has. So the letters
   * of a control token in a client's text never find, or are found for, the token itself.
   */
  private static String key(PromptText prompt, int from, int to) {
    var key = new StringBuilder();
    for (int i = from; i < to; i++) {
      key.append(prompt.isControl(i) ? "\0c" : "\0t").append(WellFormed.of(prompt.part(i)));
    }
    return key.toString();
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
