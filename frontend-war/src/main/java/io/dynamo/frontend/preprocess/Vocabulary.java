package io.dynamo.frontend.preprocess;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The token table of a {@code tokenizer.json}: byte-level vocabularies (GPT-2's alphabet of 256
 * printable characters) and SentencePiece-like ones ({@code ▁} for a space, {@code <0x0A>} for a
 * byte). Immutable.
 */
final class Vocabulary implements TokenTable {
  private static final byte[] NO_BYTES = {};

  private final byte[][] bytes;
  private final BitSet special;

  private Vocabulary(byte[][] bytes, BitSet special) {
    this.bytes = bytes;
    this.special = special;
  }

  /**
   * Reads {@code model.vocab}, {@code added_tokens} and {@code decoder}.
   *
   * @throws IllegalArgumentException for a vocabulary this table cannot turn into bytes
   */
  static Vocabulary of(@Nullable Object tokenizerJson) {
    if (!(tokenizerJson instanceof Map<?, ?> root)
        || !(root.get("model") instanceof Map<?, ?> model)
        || !(model.get("vocab") instanceof Map<?, ?> vocab)) {
      throw new IllegalArgumentException(
          "tokenizer.json has no model.vocab map; only BPE and WordPiece-like vocabularies are supported");
    }
    var added = root.get("added_tokens") instanceof List<?> list ? list : List.of();
    int size = 0;
    for (var id : vocab.values()) {
      size = Math.max(size, id(id) + 1);
    }
    for (var token : added) {
      size = Math.max(size, id(((Map<?, ?>) token).get("id")) + 1);
    }
    var bytes = new byte[size][];
    Arrays.fill(bytes, NO_BYTES);
    var special = new BitSet(size);
    boolean byteLevel = mentions(root.get("decoder"), "ByteLevel");
    boolean byteFallback = mentions(root.get("decoder"), "ByteFallback");
    for (var entry : vocab.entrySet()) {
      var text = (String) entry.getKey();
      bytes[id(entry.getValue())] =
          byteLevel ? ByteAlphabet.bytes(text) : pieceBytes(text, byteFallback);
    }
    for (var token : added) {
      var map = (Map<?, ?>) token;
      int id = id(map.get("id"));
      bytes[id] = String.valueOf(map.get("content")).getBytes(StandardCharsets.UTF_8);
      special.set(id, Boolean.TRUE.equals(map.get("special")));
    }
    return new Vocabulary(bytes, special);
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
  public boolean isSpecial(int id) {
    return id >= 0 && special.get(id);
  }

  private static int id(@Nullable Object value) {
    if (value instanceof Integer id && id >= 0 && id < 1 << 24) {
      return id;
    }
    throw new IllegalArgumentException("tokenizer.json has the token id " + value);
  }

  private static boolean mentions(@Nullable Object decoder, String type) {
    if (!(decoder instanceof Map<?, ?> map)) {
      return false;
    }
    return type.equals(map.get("type"))
        || (map.get("decoders") instanceof List<?> parts
            && parts.stream().anyMatch(part -> mentions(part, type)));
  }

  private static byte[] pieceBytes(String piece, boolean byteFallback) {
    if (byteFallback && piece.length() == 6 && piece.startsWith("<0x") && piece.endsWith(">")) {
      try {
        return new byte[] {(byte) Integer.parseInt(piece, 3, 5, 16)};
      } catch (NumberFormatException e) {
        return piece.getBytes(StandardCharsets.UTF_8);
      }
    }
    return piece.replace('▁', ' ').getBytes(StandardCharsets.UTF_8);
  }
}
