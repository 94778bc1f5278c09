package io.dynamo.worker.engine.llama.sample;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Texts as a tree of their bytes, with shared prefixes stored once. Nodes are numbered, the root is
 * 0 and each comes after its parent. Immutable once built.
 */
final class ChoiceTrie {
  static final int ROOT = 0;
  static final int NONE = -1;

  private final byte[] letters; // from the parent to the node
  private final int[] firstChild;
  private final int[] nextSibling;
  private final BitSet ends = new BitSet(); // nodes at which a text is complete
  private int nodes;

  /**
   * @param bytes total bytes of all choices, in UTF-8
   */
  ChoiceTrie(List<String> choices, int bytes) {
    letters = new byte[bytes + 1];
    firstChild = new int[bytes + 1];
    nextSibling = new int[bytes + 1];
    var texts =
        choices.stream()
            .map(it -> it.getBytes(StandardCharsets.UTF_8))
            .sorted(Arrays::compare)
            .toList();
    int deepest = 0;
    for (var text : texts) {
      deepest = Math.max(deepest, text.length);
    }
    add(ROOT, (byte) 0);
    var path = new int[deepest + 1]; // nodes of the previous text
    var before = new byte[0];
    for (var text : texts) {
      int shared = Arrays.mismatch(before, text);
      shared = shared < 0 ? text.length : shared;
      for (int i = shared; i < text.length; i++) {
        path[i + 1] = add(path[i], text[i]);
      }
      ends.set(path[text.length]);
      before = text;
    }
  }

  private int add(int parent, byte letter) {
    int node = nodes++;
    letters[node] = letter;
    firstChild[node] = NONE;
    nextSibling[node] = NONE;
    if (node != ROOT) {
      nextSibling[node] = firstChild[parent];
      firstChild[parent] = node;
    }
    return node;
  }

  int size() {
    return nodes;
  }

  boolean isEnd(int node) {
    return ends.get(node);
  }

  /** Returns a child, or {@link #NONE}. */
  int firstChild(int node) {
    return firstChild[node];
  }

  /** Returns the next child of the same parent, or {@link #NONE}. */
  int nextSibling(int node) {
    return nextSibling[node];
  }

  byte letter(int node) {
    return letters[node];
  }

  /** Returns the node that {@code text} leads to from {@code node}, or {@link #NONE}. */
  int walk(int node, byte[] text) {
    int at = node;
    for (byte letter : text) {
      at = firstChild[at];
      while (at != NONE && letters[at] != letter) {
        at = nextSibling[at];
      }
      if (at == NONE) {
        return NONE;
      }
    }
    return at;
  }
}
