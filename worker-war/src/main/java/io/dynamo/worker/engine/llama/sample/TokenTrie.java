package io.dynamo.worker.engine.llama.sample;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of a byte-level vocabulary by their bytes: finds every token that a text can begin
 * with. Special tokens are left out. Immutable once built.
 */
public final class TokenTrie {
  private static final class Branch {
    final Map<Byte, Branch> next = new HashMap<>(2);
    int token = NONE;
  }

  private static final int NONE = -1;

  private final Branch root = new Branch();
  private final Map<Integer, byte[]> bytes = new HashMap<>();

  private TokenTrie() {}

  /**
   * Reads a {@code tokenizer.json}.
   *
   * @throws IllegalArgumentException when it is none, or its vocabulary is not byte-level
   */
  public static TokenTrie of(byte[] tokenizerJson) {
    var tokenizer = Json.readObject(tokenizerJson);
    if (!isByteLevel(tokenizer)) {
      throw new IllegalArgumentException("the tokenizer's vocabulary is not byte-level");
    }
    var added = new HashSet<Integer>();
    for (var token : tokenizer.list("added_tokens")) {
      if (token instanceof Map<?, ?> map && map.get("id") instanceof Number id) {
        added.add(id.intValue());
      }
    }
    var letters = byteLetters();
    var trie = new TokenTrie();
    for (var entry : tokenizer.object("model").object("vocab").members().entrySet()) {
      if (entry.getValue() instanceof Number id && !added.contains(id.intValue())) {
        trie.add(entry.getKey(), id.intValue(), letters);
      }
    }
    return trie;
  }

  private static boolean isByteLevel(JsonObject tokenizer) {
    var decoder = tokenizer.optionalObject("decoder");
    if (decoder == null) {
      return false;
    }
    if ("ByteLevel".equals(decoder.optionalText("type"))) {
      return true;
    }
    return decoder.list("decoders").stream()
        .anyMatch(part -> part instanceof Map<?, ?> map && "ByteLevel".equals(map.get("type")));
  }

  /**
   * The letter that stands for each byte in byte-level vocabularies: itself where it prints, else
   * the next one from U+0100 on.
   */
  private static Map<Character, Byte> byteLetters() {
    var letters = new HashMap<Character, Byte>();
    char next = 256;
    for (int value = 0; value < 256; value++) {
      boolean prints =
          (value >= '!' && value <= '~') || (value >= 0xA1 && value <= 0xFF && value != 0xAD);
      letters.put(prints ? (char) value : next++, (byte) value);
    }
    return letters;
  }

  private void add(String name, int id, Map<Character, Byte> letters) {
    var content = new byte[name.length()];
    for (int i = 0; i < content.length; i++) {
      var letter = letters.get(name.charAt(i));
      if (letter == null) {
        return; // not a token of bytes: it cannot be part of a text
      }
      content[i] = letter;
    }
    if (content.length == 0) {
      return;
    }
    var at = root;
    for (byte letter : content) {
      at = at.next.computeIfAbsent(letter, _ -> new Branch());
    }
    at.token = id;
    bytes.put(id, content);
  }

  /**
   * Adds every token whose bytes {@code text} has at {@code from} and from whose end it goes on.
   */
  void collect(byte[] text, int from, boolean[] finishable, Set<Integer> into) {
    @Nullable Branch at = root;
    for (int i = from; i < text.length; i++) {
      at = at.next.get(text[i]);
      if (at == null) {
        return;
      }
      if (at.token != NONE && finishable[i + 1]) {
        into.add(at.token);
      }
    }
  }

  /** How many bytes a token has; 0 for one that is no text. */
  int length(int token) {
    var content = bytes.get(token);
    return content == null ? 0 : content.length;
  }

  /** Whether {@code text} has the token's bytes at {@code from}. */
  boolean matches(int token, byte[] text, int from) {
    var content = bytes.get(token);
    if (content == null || from + content.length > text.length) {
      return false;
    }
    for (int i = 0; i < content.length; i++) {
      if (text[from + i] != content[i]) {
        return false;
      }
    }
    return true;
  }

  /**
   * For each place in {@code text}, whether tokens can write it from there to its end. The end
   * counts.
   */
  boolean[] finishable(byte[] text) {
    var finishable = new boolean[text.length + 1];
    finishable[text.length] = true;
    var tokens = new HashSet<Integer>();
    for (int from = text.length - 1; from >= 0; from--) {
      tokens.clear();
      collect(text, from, finishable, tokens);
      finishable[from] = !tokens.isEmpty();
    }
    return finishable;
  }
}
