package io.dynamo.frontend.preprocess;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds added tokens in a text by their contents. Immutable once it is built. */
final class AddedTokenTrie {
  /**
   * A node of the trie: the token that the characters up to here spell, and the next characters.
   */
  static final class Match {
    private final Map<Character, Match> longer = new HashMap<>();
    private final int length;
    private boolean isToken;
    private boolean cuts = true;

    private Match(int length) {
      this.length = length;
    }

    /** Returns the length of the token, in characters. */
    int length() {
      return length;
    }

    /** Whether a text may be cut before the token. */
    boolean cuts() {
      return cuts;
    }
  }

  private final Match root = new Match(0);
  private final boolean[] starts = new boolean[128]; // ASCII characters that begin a token
  private boolean wideStarts;

  static AddedTokenTrie of(List<Map<?, ?>> tokens) {
    var trie = new AddedTokenTrie();
    for (var token : tokens) {
      var content = String.valueOf(token.get("content"));
      if (!content.isEmpty()) {
        trie.add(content, !Boolean.TRUE.equals(token.get("lstrip")) && !isSpace(content.charAt(0)));
      }
    }
    return trie;
  }

  private void add(String content, boolean cuts) {
    var node = root;
    for (int i = 0; i < content.length(); i++) {
      int length = i + 1;
      node = node.longer.computeIfAbsent(content.charAt(i), _ -> new Match(length));
    }
    node.isToken = true;
    node.cuts &= cuts;
    char first = content.charAt(0);
    if (first < starts.length) {
      starts[first] = true;
    } else {
      wideStarts = true;
    }
  }

  boolean isEmpty() {
    return root.longer.isEmpty();
  }

  /**
   * The start of the first token at or after {@code from} that ends by {@code limit}; {@code limit}
   * when there is none.
   */
  int first(String text, int from, int limit) {
    int at = isEmpty() ? limit : from;
    while (at < limit && longest(text, at, limit) == null) {
      at++;
    }
    return at;
  }

  /** The longest token at {@code from} that ends by {@code limit}. */
  @Nullable Match longest(String text, int from, int limit) {
    char first = text.charAt(from);
    if (first < starts.length ? !starts[first] : !wideStarts) {
      return null;
    }
    Match found = null;
    var node = root;
    for (int i = from; i < limit; i++) {
      node = node.longer.get(text.charAt(i));
      if (node == null) {
        break;
      }
      if (node.isToken) {
        found = node;
      }
    }
    return found;
  }

  private static boolean isSpace(char c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c);
  }
}
