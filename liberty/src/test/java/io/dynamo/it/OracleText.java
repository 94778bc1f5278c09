package io.dynamo.it;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Computes the answer of the mock engine of the shipped model from its definition and the model's
 * {@code tokenizer.json}, with none of the product's code: the hash of the seed and of all tokens
 * before chooses each word, and a space follows each word. Immutable.
 */
final class OracleText {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final Map<String, Integer> ids;
  private final List<Map.Entry<Integer, String>> words; // by id
  private final int space;

  private OracleText(Map<String, Integer> ids, List<Map.Entry<Integer, String>> words) {
    this.ids = ids;
    this.words = words;
    this.space = Objects.requireNonNull(ids.get("\u0120"));
  }

  /** Reads the tokenizer that ships with the server. */
  static OracleText ofShippedModel() throws IOException {
    var file =
        Path.of(System.getProperty("dynamo.it.config"))
            .resolve("models")
            .resolve(Cluster.MODEL)
            .resolve("tokenizer.json");
    var tokenizer = new ObjectMapper().readTree(Files.readAllBytes(file));
    var ids = new HashMap<String, Integer>();
    tokenizer
        .at("/model/vocab")
        .properties()
        .forEach(token -> ids.put(token.getKey(), token.getValue().intValue()));
    var special = new HashSet<Integer>();
    for (var token : tokenizer.get("added_tokens")) {
      ids.put(token.get("content").textValue(), token.get("id").intValue());
      special.add(token.get("id").intValue());
    }
    var words = new ArrayList<Map.Entry<Integer, String>>();
    ids.forEach(
        (name, id) -> {
          if (name.matches("[A-Za-z]{2,}") && !special.contains(id)) {
            words.add(Map.entry(id, name));
          }
        });
    words.sort(Map.Entry.comparingByKey());
    return new OracleText(ids, words);
  }

  /** A prompt whose tokens are known without a tokenizer: each word, space and digit is one. */
  static String prompt(int number) {
    return "Count from " + number;
  }

  /** The answer of {@code tokens} tokens to {@link #prompt}, asked as {@link ChatClient#body}. */
  String answer(int number, int tokens) {
    long state = mix(1 + GOLDEN); // the body's seed is 1
    for (int id : promptIds(number)) {
      state = after(state, id);
    }
    var text = new StringBuilder();
    for (int i = 0; i < tokens; i++) {
      if (i % 2 == 1) { // the prompt's last token is a line break, so the first is a word
        text.append(' ');
        state = after(state, space);
      } else {
        var word = words.get((int) Long.remainderUnsigned(mix(state), words.size()));
        text.append(word.getValue());
        state = after(state, word.getKey());
      }
    }
    return text.toString();
  }

  /**
   * As Hugging Face's tokenizers encode the chat template's text, for 7: {@code 4088 333 198 1066
   * 220 455 220 22 4089 198 4088 330 198}.
   */
  List<Integer> promptIds(int number) {
    var names =
        new ArrayList<>(List.of("<|im_start|>", "user", "\u010A", "Count", "\u0120", "from"));
    names.add("\u0120");
    Integer.toString(number).chars().forEach(digit -> names.add(Character.toString(digit)));
    names.addAll(List.of("<|im_end|>", "\u010A", "<|im_start|>", "assistant", "\u010A"));
    return names.stream().map(name -> Objects.requireNonNull(ids.get(name), name)).toList();
  }

  private static long after(long state, int token) {
    return mix(state + GOLDEN * (2L * token + 1));
  }

  /** SplitMix64's finaliser, see https://prng.di.unimi.it/splitmix64.c. */
  private static long mix(long value) {
    long z = value;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
