package io.dynamo.frontend.preprocess;

import io.dynamo.frontend.preprocess.bpe.ByteLevelBpe;
import io.dynamo.frontend.preprocess.bpe.TokenList;
import io.dynamo.model.vocabulary.TiktokenFile;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Encodes text for byte-level tokenizers without the library, ten times as fast: added tokens are
 * taken out leftmost and longest, those of the raw text first; {@link ByteLevelBpe} encodes the
 * text between them. Text that the tokenizer would normalise first goes to the library.
 */
final class ByteLevelEncoder implements TextEncoder {
  private static final int MAX_COMPOSED = 4;

  private final ByteLevelBpe bpe;
  private final AddedTokenTrie raw;
  private final AddedTokenTrie normalized;
  private final Map<String, Integer> addedIds;
  private final boolean composes; // NFC
  private final @Nullable TextEncoder library; // there is none for ranks
  private volatile boolean closed;

  private ByteLevelEncoder(
      ByteLevelBpe bpe,
      AddedTokenTrie raw,
      AddedTokenTrie normalized,
      Map<String, Integer> addedIds,
      boolean composes,
      @Nullable TextEncoder library) {
    this.bpe = bpe;
    this.raw = raw;
    this.normalized = normalized;
    this.addedIds = addedIds;
    this.composes = composes;
    this.library = library;
  }

  /**
   * The fastest encoder that gives the ids of {@code library}: itself, where the tokenizer has a
   * part that is not known here.
   *
   * @param tokenizer the parsed {@code tokenizer.json} of {@code library}, which is closed with
   *     what is returned
   */
  static TextEncoder of(Map<?, ?> tokenizer, TextEncoder library) {
    var bpe = ByteLevelBpe.of(tokenizer);
    boolean composes = isNfc(tokenizer.get("normalizer"));
    if (bpe == null || !(composes || SafeCuts.isIdentity(tokenizer.get("normalizer")))) {
      return library;
    }
    var rawTokens = new ArrayList<Map<?, ?>>();
    var normalizedTokens = new ArrayList<Map<?, ?>>();
    var addedIds = new HashMap<String, Integer>();
    for (var entry : tokenizer.get("added_tokens") instanceof List<?> list ? list : List.of()) {
      if (!(entry instanceof Map<?, ?> token)
          || !(token.get("id") instanceof Number id)
          || !(token.get("content") instanceof String content)
          || SafeCuts.is(token, "single_word")
          || SafeCuts.is(token, "lstrip")
          || SafeCuts.is(token, "rstrip")
          || !isComposed(content)
          || !Arrays.equals(
              library.encode(content, Integer.MAX_VALUE), new int[] {id.intValue()})) {
        return library;
      }
      addedIds.put(content, id.intValue());
      (SafeCuts.is(token, "normalized") ? normalizedTokens : rawTokens).add(token);
    }
    return new ByteLevelEncoder(
        bpe,
        AddedTokenTrie.of(rawTokens),
        AddedTokenTrie.of(normalizedTokens),
        addedIds,
        composes,
        library);
  }

  /**
   * The encoder of a vocabulary of {@code tiktoken}.
   *
   * @param tokenizer as {@link TiktokenFile} gives it
   * @throws IllegalArgumentException when merging it would take too much memory
   */
  static TextEncoder ofRanks(Map<?, ?> tokenizer) {
    var bpe = ByteLevelBpe.of(tokenizer);
    if (bpe == null || !(tokenizer.get("added_tokens") instanceof List<?> added)) {
      throw new IllegalArgumentException("the tokenizer is no vocabulary of tiktoken");
    }
    var tokens = new ArrayList<Map<?, ?>>();
    var ids = new HashMap<String, Integer>();
    for (var entry : added) {
      if (entry instanceof Map<?, ?> token
          && token.get("content") instanceof String content
          && token.get("id") instanceof Integer id) {
        tokens.add(token);
        ids.put(content, id);
      }
    }
    return new ByteLevelEncoder(
        bpe, AddedTokenTrie.of(tokens), AddedTokenTrie.of(List.of()), ids, false, null);
  }

  private static boolean isNfc(@Nullable Object normalizer) {
    return normalizer instanceof Map<?, ?> step && "NFC".equals(step.get("type"));
  }

  private static boolean isComposed(String text) {
    return Normalizer.isNormalized(text, Normalizer.Form.NFC);
  }

  @Override
  public int[] encode(String text, int maxTokens) {
    checkOpen();
    if (composes && library != null && !isComposed(text)) {
      return library.encode(text, maxTokens);
    }
    var ids = new TokenList(text.length() / 3, maxTokens);
    for (int at = 0; at < text.length(); ) {
      int start = raw.first(text, at, text.length());
      betweenRaw(text, at, start, ids);
      at = start;
      if (start < text.length()) {
        at = added(raw, text, start, text.length(), ids);
      }
    }
    return ids.toArray();
  }

  @Override
  public int[] encodeOrdinary(String text, int maxTokens) {
    checkOpen();
    if (composes && library != null && !isComposed(text)) {
      return library.encodeOrdinary(text, maxTokens);
    }
    var ids = new TokenList(text.length() / 3, maxTokens);
    bpe.encode(text, 0, text.length(), ids);
    return ids.toArray();
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the tokenizer is closed");
    }
  }

  private void betweenRaw(String text, int from, int to, TokenList ids) {
    for (int at = from; at < to; ) {
      int start = normalized.first(text, at, to);
      bpe.encode(text, at, start, ids);
      at = start;
      if (start < to) {
        at = added(normalized, text, start, to, ids);
      }
    }
  }

  /** Adds the token that begins at {@code from}. Returns where it ends. */
  private int added(AddedTokenTrie trie, String text, int from, int to, TokenList ids) {
    var token = trie.longest(text, from, to);
    int end = token == null ? from : from + token.length();
    var id = addedIds.get(text.substring(from, end));
    if (id == null) {
      throw new IllegalStateException("an added token has no id");
    }
    ids.add(id);
    return end;
  }

  /** Every byte is in a token. Composing makes one character of four at most. */
  @Override
  public int maxTokenChars(int longestToken) {
    return composes ? MAX_COMPOSED * longestToken : longestToken;
  }

  @Override
  public void close() {
    closed = true;
    if (library != null) {
      library.close();
    }
  }
}
