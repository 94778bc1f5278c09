package io.dynamo.worker.wiring;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Picks the ids of a tokenizer that read as words: ASCII letters, with or without a space before.
 */
final class ReadableVocabulary {
  /** A space is {@code Ġ} in byte-level vocabularies and {@code ▁} in SentencePiece's. */
  private static final Pattern WORD = Pattern.compile("[\\u0120\\u2581]?[A-Za-z]{2,}");

  private ReadableVocabulary() {}

  /**
   * Reads a {@code tokenizer.json}.
   *
   * @return the ids, rising
   * @throws IllegalArgumentException when it has no table of tokens by name, or no two such words
   */
  static int[] of(byte[] tokenizerJson) {
    var tokenizer = Json.readObject(tokenizerJson);
    var added = new HashSet<Long>();
    if (tokenizer.members().get("added_tokens") instanceof Iterable<?> tokens) {
      for (var token : tokens) {
        if (token instanceof Map<?, ?> map && map.get("id") instanceof Number id) {
          added.add(id.longValue());
        }
      }
    }
    JsonObject table = tokenizer.object("model").object("vocab");
    int[] ids =
        table.members().entrySet().stream()
            .filter(entry -> WORD.matcher(entry.getKey()).matches())
            .map(Map.Entry::getValue)
            .filter(Number.class::isInstance)
            .mapToLong(id -> ((Number) id).longValue())
            .filter(id -> !added.contains(id))
            .mapToInt(Math::toIntExact)
            .toArray();
    if (ids.length < 2) {
      throw new IllegalArgumentException(
          "the tokenizer has " + ids.length + " words of ASCII letters; the mock engine needs two");
    }
    Arrays.sort(ids);
    return ids;
  }
}
