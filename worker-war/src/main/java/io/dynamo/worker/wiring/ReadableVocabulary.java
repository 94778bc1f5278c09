package io.dynamo.worker.wiring;

import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.mock.OracleTokens;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * The tokens of a tokenizer that read as words: those that include a leading space, or else bare
 * ones with the space token between them. Immutable.
 */
final class ReadableVocabulary {
  /**
   * Matches a space token, which is {@code Ġ} in byte-level vocabularies and {@code ▁} in
   * SentencePiece's.
   */
  private static final Predicate<String> SPACE = Set.of("\u0120", "\u2581")::contains;

  private static final Predicate<String> SPACED_WORD =
      Pattern.compile("[\\u0120\\u2581][A-Za-z]{2,}").asMatchPredicate();
  private static final Predicate<String> BARE_WORD =
      Pattern.compile("[A-Za-z]{2,}").asMatchPredicate();

  private final int[] words;
  private final OptionalInt separator;

  private ReadableVocabulary(int[] words, OptionalInt separator) {
    this.words = words;
    this.separator = separator;
  }

  /**
   * Reads a {@code tokenizer.json}.
   *
   * @throws IllegalArgumentException when it has no table of tokens by name, or fewer than two such
   *     words
   */
  static ReadableVocabulary of(JsonObject tokenizer) {
    var ids = ids(tokenizer);
    var spaced = matching(ids, SPACED_WORD);
    if (spaced.length >= 2) {
      return new ReadableVocabulary(spaced, OptionalInt.empty());
    }
    var bare = matching(ids, BARE_WORD);
    if (bare.length < 2) {
      throw new IllegalArgumentException(
          "the tokenizer has "
              + bare.length
              + " words of ASCII letters; the mock engine needs two");
    }
    var spaces = matching(ids, SPACE);
    return new ReadableVocabulary(
        bare, spaces.length == 0 ? OptionalInt.empty() : OptionalInt.of(spaces[0]));
  }

  /** Returns the ids by their names, without those of special tokens. */
  private static Map<String, Integer> ids(JsonObject tokenizer) {
    var added = new HashSet<Long>();
    if (tokenizer.members().get("added_tokens") instanceof Iterable<?> tokens) {
      for (var token : tokens) {
        if (token instanceof Map<?, ?> map && map.get("id") instanceof Number id) {
          added.add(id.longValue());
        }
      }
    }
    var ids = new HashMap<String, Integer>();
    tokenizer
        .object("model")
        .object("vocab")
        .members()
        .forEach(
            (name, id) -> {
              if (id instanceof Number number && !added.contains(number.longValue())) {
                ids.put(name, Math.toIntExact(number.longValue()));
              }
            });
    return ids;
  }

  private static int[] matching(Map<String, Integer> ids, Predicate<String> name) {
    return ids.entrySet().stream()
        .filter(entry -> name.test(entry.getKey()))
        .mapToInt(Map.Entry::getValue)
        .sorted()
        .toArray();
  }

  /** Returns the ids of the words, in rising order. */
  int[] words() {
    return words.clone();
  }

  /** Returns the id between two words; empty where words need none, or the vocabulary has none. */
  OptionalInt separator() {
    return separator;
  }

  /** Returns an oracle over these words. */
  OracleTokens oracle() {
    return separator.isPresent()
        ? new OracleTokens(words, separator.getAsInt())
        : new OracleTokens(words);
  }
}
