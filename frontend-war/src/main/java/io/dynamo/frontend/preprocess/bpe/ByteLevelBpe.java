package io.dynamo.frontend.preprocess.bpe;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Text between added tokens to token ids. What short pieces became is remembered: prompts repeat
 * their words. Safe for concurrent use.
 */
public final class ByteLevelBpe {
  private static final int REMEMBERED = 1 << 14;
  private static final int LONGEST_REMEMBERED = 32; // characters

  /** A piece and its ids. */
  private record Word(String piece, int[] ids) {}

  private final PieceSplitter splitter;
  private final MergeTable merges;
  private final int[] byteIds;
  private final @Nullable Map<String, Integer> whole; // pieces that are tokens, whatever the merges

  // a word at the place of its hash; written without locks, as words do not change
  private final @Nullable Word[] words = new Word[REMEMBERED];

  private ByteLevelBpe(
      PieceSplitter splitter,
      MergeTable merges,
      int[] byteIds,
      @Nullable Map<String, Integer> whole) {
    this.splitter = splitter;
    this.merges = merges;
    this.byteIds = byteIds;
    this.whole = whole;
  }

  /**
   * From a parsed {@code tokenizer.json}.
   *
   * @return null when its pre-tokenizer or model is not of the kind that is known here
   */
  public static @Nullable ByteLevelBpe of(Map<?, ?> tokenizer) {
    var splitter = PieceSplitter.of(tokenizer.get("pre_tokenizer"));
    if (splitter == null
        || !(tokenizer.get("model") instanceof Map<?, ?> model)
        || !"BPE".equals(model.get("type"))
        || !isAbsent(model.get("dropout"))
        || !isAbsent(model.get("continuing_subword_prefix"))
        || !isAbsent(model.get("end_of_word_suffix"))
        || !(model.get("vocab") instanceof Map<?, ?> entries)
        || !(model.get("merges") instanceof List<?> pairs)) {
      return null;
    }
    var vocabulary = HashMap.<String, Integer>newHashMap(entries.size());
    for (var entry : entries.entrySet()) {
      if (entry.getValue() instanceof Number id) {
        vocabulary.put(String.valueOf(entry.getKey()), id.intValue());
      }
    }
    var byteIds = new int[256];
    for (int b = 0; b < 256; b++) {
      var id = vocabulary.get(ByteAlphabet.spelled(new byte[] {(byte) b}));
      if (id == null) {
        return null;
      }
      byteIds[b] = id;
    }
    var merges = MergeTable.of(pairs, vocabulary);
    boolean whole = Boolean.TRUE.equals(model.get("ignore_merges"));
    return merges == null
        ? null
        : new ByteLevelBpe(splitter, merges, byteIds, whole ? vocabulary : null);
  }

  private static boolean isAbsent(@Nullable Object option) {
    return option == null
        || option.equals("")
        || (option instanceof Number number && number.doubleValue() == 0);
  }

  /**
   * Appends the ids of a part of {@code text}, as if it were the whole.
   *
   * @param text without halves of surrogate pairs
   */
  public void encode(String text, int from, int to, TokenList ids) {
    for (int at = from; at < to; ) {
      int end = splitter.end(text, at, to);
      ids.add(piece(text, at, end));
      at = end;
    }
  }

  private int[] piece(String text, int from, int to) {
    int length = to - from;
    if (length > LONGEST_REMEMBERED) {
      return merged(text.substring(from, to));
    }
    int hash = length;
    for (int i = from; i < to; i++) {
      hash = 31 * hash + text.charAt(i);
    }
    int place = (hash ^ (hash >>> 15)) & (REMEMBERED - 1);
    var word = words[place];
    if (word == null || word.piece.length() != length || !text.startsWith(word.piece, from)) {
      var piece = text.substring(from, to);
      word = new Word(piece, merged(piece));
      words[place] = word;
    }
    return word.ids;
  }

  private int[] merged(String piece) {
    var bytes = piece.getBytes(StandardCharsets.UTF_8);
    if (whole != null) {
      var id = whole.get(ByteAlphabet.spelled(bytes));
      if (id != null) {
        return new int[] {id};
      }
    }
    var ids = new int[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      ids[i] = byteIds[bytes[i] & 0xff];
    }
    return new Symbols(merges, ids).merge();
  }
}
