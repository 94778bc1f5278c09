package io.dynamo.model.vocabulary;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The token table of a {@code tokenizer.json}, for every kind of model: byte-level BPE, BPE with
 * byte fallback, Unigram, WordPiece. Immutable.
 */
public final class Vocabulary implements TokenTable {
  private static final byte[] NO_BYTES = {};

  private final byte[][] bytes;
  private final byte[][] firstBytes; // the same array where no token differs at the start
  private final BitSet special;

  private Vocabulary(byte[][] bytes, byte[][] firstBytes, BitSet special) {
    this.bytes = bytes;
    this.firstBytes = firstBytes;
    this.special = special;
  }

  /**
   * Reads {@code model.vocab}, {@code added_tokens} and {@code decoder}.
   *
   * @throws IllegalArgumentException for a vocabulary this table cannot turn into bytes
   */
  public static Vocabulary of(@Nullable Object tokenizerJson) {
    if (!(tokenizerJson instanceof Map<?, ?> root)
        || !(root.get("model") instanceof Map<?, ?> model)) {
      throw new IllegalArgumentException("tokenizer.json has no model");
    }
    var added = root.get("added_tokens") instanceof List<?> list ? list : List.of();
    var pieces = pieces(model.get("vocab"));
    int size = pieces.length;
    for (var token : added) {
      size = Math.max(size, id(((Map<?, ?>) token).get("id")) + 1);
    }
    var decoder = PieceDecoder.of(root.get("decoder"));
    boolean twice = decoder.hasFirstRule();
    var bytes = new byte[size][];
    Arrays.fill(bytes, NO_BYTES);
    var firstBytes = twice ? bytes.clone() : bytes;
    for (int id = 0; id < pieces.length; id++) {
      var piece = pieces[id];
      if (piece != null) {
        bytes[id] = decoder.bytes(piece, false);
        firstBytes[id] = twice ? shared(decoder.bytes(piece, true), bytes[id]) : bytes[id];
      }
    }
    var special = new BitSet(size);
    for (var token : added) {
      var map = (Map<?, ?>) token;
      int id = id(map.get("id"));
      var content = String.valueOf(map.get("content"));
      bytes[id] = decoder.addedBytes(content, false);
      firstBytes[id] = twice ? shared(decoder.addedBytes(content, true), bytes[id]) : bytes[id];
      special.set(id, Boolean.TRUE.equals(map.get("special")));
    }
    return new Vocabulary(bytes, firstBytes, special);
  }

  @Override
  public int size() {
    return bytes.length;
  }

  @Override
  public byte[] bytes(int id) {
    return id >= 0 && id < bytes.length ? bytes[id] : NO_BYTES;
  }

  @Override
  public byte[] firstBytes(int id) {
    return id >= 0 && id < bytes.length ? firstBytes[id] : NO_BYTES;
  }

  @Override
  public boolean isSpecial(int id) {
    return id >= 0 && special.get(id);
  }

  /** Bytes of the longest token. */
  public int longestBytes() {
    int longest = 0;
    for (int id = 0; id < bytes.length; id++) {
      longest = Math.max(longest, Math.max(bytes[id].length, firstBytes[id].length));
    }
    return longest;
  }

  /** Pieces by id: from a map of ids, or from Unigram's list of pieces with their scores. */
  private static @Nullable String[] pieces(@Nullable Object vocab) {
    if (vocab instanceof List<?> list) {
      var pieces = new @Nullable String[list.size()];
      for (int id = 0; id < pieces.length; id++) {
        if (!(list.get(id) instanceof List<?> scored)
            || scored.isEmpty()
            || !(scored.getFirst() instanceof String piece)) {
          throw new IllegalArgumentException("tokenizer.json has no piece with the id " + id);
        }
        pieces[id] = piece;
      }
      return pieces;
    }
    if (!(vocab instanceof Map<?, ?> map)) {
      throw new IllegalArgumentException("tokenizer.json has no model.vocab");
    }
    int size = 0;
    for (var id : map.values()) {
      size = Math.max(size, id(id) + 1);
    }
    var pieces = new @Nullable String[size];
    map.forEach((piece, id) -> pieces[id(id)] = String.valueOf(piece));
    return pieces;
  }

  private static byte[] shared(byte[] first, byte[] rest) {
    return Arrays.equals(first, rest) ? rest : first;
  }

  private static int id(@Nullable Object value) {
    if (value instanceof Integer id && id >= 0 && id < 1 << 24) {
      return id;
    }
    throw new IllegalArgumentException("tokenizer.json has the token id " + value);
  }
}
