package io.dynamo.worker.engine.openai;

import io.dynamo.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the special tokens that a {@code tokenizer.json} puts before each text, which servers do
 * with every prompt that comes as text. Stateless.
 */
final class TokenizerPrefix {
  private TokenizerPrefix() {}

  /** Returns the ids in their order; none where the tokenizer puts nothing before a text. */
  static int[] of(JsonObject tokenizer) {
    return added(tokenizer.members().get("post_processor"));
  }

  private static int[] added(@Nullable Object processor) {
    if (!(processor instanceof Map<?, ?> map)) {
      return new int[0];
    }
    if (map.get("processors") instanceof List<?> several) { // one after the other
      return several.stream()
          .map(TokenizerPrefix::added)
          .reduce(new int[0], (inner, outer) -> joined(outer, inner));
    }
    return map.get("single") instanceof List<?> template
            && map.get("special_tokens") instanceof Map<?, ?> tokens
        ? before(template, tokens)
        : new int[0];
  }

  private static int[] joined(int[] first, int[] second) {
    return IntStream.concat(IntStream.of(first), IntStream.of(second)).toArray();
  }

  /** Returns the ids of the special tokens before the place of the text. */
  private static int[] before(List<?> template, Map<?, ?> tokens) {
    var ids = new ArrayList<Integer>();
    for (var part : template) {
      if (!(part instanceof Map<?, ?> map) || !(map.get("SpecialToken") instanceof Map<?, ?> one)) {
        break;
      }
      if (tokens.get(one.get("id")) instanceof Map<?, ?> token
          && token.get("ids") instanceof List<?> all) {
        all.forEach(
            id -> {
              if (id instanceof Integer number) {
                ids.add(number);
              }
            });
      }
    }
    return ids.stream().mapToInt(Integer::intValue).toArray();
  }
}
