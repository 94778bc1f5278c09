package io.dynamo.worker.engine.llama.sample;

import io.dynamo.json.JsonObject;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
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
   * @throws IllegalArgumentException when the input is no tokenizer, or its vocabulary is not
   *     byte-level
   */
  public static TokenTrie of(JsonObject tokenizer) {
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
   * Returns the letter that stands for each byte in byte-level vocabularies: the byte's own letter
   * where it prints, else the next one from U+0100 on.
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

  /** Adds to {@code into} every token that leads from {@code node} to one of {@code targets}. */
  void collect(ChoiceTrie tree, int node, BitSet targets, BitSet into) {
    collect(root, tree, node, targets, into);
  }

  private static void collect(
      Branch branch, ChoiceTrie tree, int node, BitSet targets, BitSet into) {
    for (int child = tree.firstChild(node);
        child != ChoiceTrie.NONE;
        child = tree.nextSibling(child)) {
      var next = branch.next.get(tree.letter(child));
      if (next != null) {
        if (next.token != NONE && targets.get(child)) {
          into.set(next.token);
        }
        collect(next, tree, child, targets, into);
      }
    }
  }

  /** Whether any token leads from {@code node} to one of {@code targets}. */
  boolean leads(ChoiceTrie tree, int node, BitSet targets) {
    return leads(root, tree, node, targets);
  }

  private static boolean leads(Branch branch, ChoiceTrie tree, int node, BitSet targets) {
    for (int child = tree.firstChild(node);
        child != ChoiceTrie.NONE;
        child = tree.nextSibling(child)) {
      var next = branch.next.get(tree.letter(child));
      if (next != null
          && ((next.token != NONE && targets.get(child)) || leads(next, tree, child, targets))) {
        return true;
      }
    }
    return false;
  }

  /** Marks every node that a token leads to from {@code node}. */
  void markPlaces(ChoiceTrie tree, int node, BitSet places) {
    markPlaces(root, tree, node, places);
  }

  private static void markPlaces(Branch branch, ChoiceTrie tree, int node, BitSet places) {
    for (int child = tree.firstChild(node);
        child != ChoiceTrie.NONE;
        child = tree.nextSibling(child)) {
      var next = branch.next.get(tree.letter(child));
      if (next != null) {
        if (next.token != NONE) {
          places.set(child);
        }
        markPlaces(next, tree, child, places);
      }
    }
  }

  /** Returns the bytes of a token, not to be changed; null for a token that is no text. */
  byte @Nullable [] bytes(int token) {
    return bytes.get(token);
  }
}
