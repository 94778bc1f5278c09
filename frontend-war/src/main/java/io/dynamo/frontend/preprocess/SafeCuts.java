package io.dynamo.frontend.preprocess;

import io.dynamo.frontend.preprocess.AddedTokenTrie.Match;
import io.dynamo.model.vocabulary.TiktokenFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds where a text may be cut so that its parts, encoded one by one, have the ids of the whole.
 * Immutable.
 *
 * <p>The tokenizer library takes added tokens out of a text first, leftmost and longest, and then
 * normalises, splits and encodes what lies between them piece by piece; so nothing joins across an
 * added token. A cut lies right before one: its part begins with the token, and no other piece can
 * look like the start of the text, where some tokenizers put a space. What would let pieces see
 * each other (a token that swallows the space before it or looks at its neighbours, a random
 * dropout, an unknown kind of step) rules tokens or the whole tokenizer out.
 */
final class SafeCuts {
  private static final Set<String> NORMALIZERS =
      Set.of(
          "Sequence",
          "Prepend",
          "Replace",
          "NFC",
          "NFD",
          "NFKC",
          "NFKD",
          "Nmt",
          "Precompiled",
          "Lowercase",
          "Strip",
          "StripAccents",
          "BertNormalizer",
          "ByteLevel");
  private static final Set<String> PRE_TOKENIZERS =
      Set.of(
          "Sequence",
          "ByteLevel",
          "Metaspace",
          "Split",
          "Digits",
          "Punctuation",
          "Whitespace",
          "WhitespaceSplit",
          "BertPreTokenizer",
          "CharDelimiterSplit",
          "UnicodeScripts");
  private static final Set<String> MODELS =
      Set.of("BPE", "Unigram", "WordPiece", "WordLevel", TiktokenFile.MODEL_TYPE);

  private final AddedTokenTrie raw;
  private final AddedTokenTrie normalized;

  private SafeCuts(AddedTokenTrie raw, AddedTokenTrie normalized) {
    this.raw = raw;
    this.normalized = normalized;
  }

  /**
   * @return null when no cut is proved safe
   */
  static @Nullable SafeCuts of(Map<?, ?> tokenizer) {
    if (!knows(tokenizer.get("normalizer"), "normalizers", NORMALIZERS)
        || !knows(tokenizer.get("pre_tokenizer"), "pretokenizers", PRE_TOKENIZERS)
        || !(tokenizer.get("model") instanceof Map<?, ?> model)
        || (model.get("type") instanceof String type && !MODELS.contains(type))
        || (model.get("dropout") instanceof Number dropout && dropout.doubleValue() != 0)) {
      return null;
    }
    var rawTokens = new ArrayList<Map<?, ?>>();
    var normalizedTokens = new ArrayList<Map<?, ?>>();
    for (var entry : tokenizer.get("added_tokens") instanceof List<?> list ? list : List.of()) {
      if (entry instanceof Map<?, ?> token) {
        if (is(token, "single_word")) {
          return null;
        }
        (is(token, "normalized") ? normalizedTokens : rawTokens).add(token);
      }
    }
    boolean textIsLeftAlone = isIdentity(tokenizer.get("normalizer"));
    boolean rawTokensStrip =
        rawTokens.stream().anyMatch(token -> is(token, "lstrip") || is(token, "rstrip"));
    if (!textIsLeftAlone || rawTokensStrip) {
      normalizedTokens.clear();
    }
    var cuts = new SafeCuts(AddedTokenTrie.of(rawTokens), AddedTokenTrie.of(normalizedTokens));
    return cuts.raw.isEmpty() && cuts.normalized.isEmpty() ? null : cuts;
  }

  /** Walks over the cuts of {@code text} from its start. */
  Walk walk(String text) {
    return new Walk(text);
  }

  /** One pass over one text. For one thread. */
  final class Walk {
    private final String text;
    private int at;
    private int rawStart = -1; // of the first raw token from `at` on, or the end of the text
    private @Nullable Match rawToken;

    private Walk(String text) {
      this.text = text;
    }

    /** The next position that may be cut, or the length of the text. */
    int next() {
      while (at < text.length()) {
        if (rawStart < at) {
          findRaw();
        }
        if (normalized.isEmpty()) {
          at = rawStart;
        }
        int start = at;
        var token = at < rawStart ? normalized.longest(text, at, rawStart) : rawToken;
        at += token == null ? 1 : token.length();
        if (token != null && token.cuts()) {
          return start;
        }
      }
      return text.length();
    }

    private void findRaw() {
      rawStart = raw.first(text, at, text.length());
      rawToken = rawStart < text.length() ? raw.longest(text, rawStart, text.length()) : null;
    }
  }

  static boolean is(Map<?, ?> token, String flag) {
    return Boolean.TRUE.equals(token.get(flag));
  }

  private static boolean knows(@Nullable Object step, String parts, Set<String> known) {
    if (step == null) {
      return true;
    }
    if (!(step instanceof Map<?, ?> map) || !known.contains(String.valueOf(map.get("type")))) {
      return false;
    }
    return !(map.get(parts) instanceof List<?> list)
        || list.stream().allMatch(part -> knows(part, parts, known));
  }

  static boolean isIdentity(@Nullable Object normalizer) {
    return normalizer == null
        || (normalizer instanceof Map<?, ?> map
            && "Sequence".equals(map.get("type"))
            && map.get("normalizers") instanceof List<?> parts
            && parts.stream().allMatch(SafeCuts::isIdentity));
  }
}
