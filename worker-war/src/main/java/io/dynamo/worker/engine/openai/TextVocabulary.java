package io.dynamo.worker.engine.openai;

import io.dynamo.json.JsonObject;
import io.dynamo.model.vocabulary.TokenTable;
import io.dynamo.model.vocabulary.Vocabulary;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Converts token ids to their text, and a text to token ids that stand for its bytes: the longest
 * token at each place. These ids are not those that a model would have drawn, but whoever decodes
 * them gets the same text. Immutable.
 */
public final class TextVocabulary {
  private static final int BYTES = 256;

  private final TokenTable table;
  private final byte[][] spellings; // of tokens that are not special, sorted as unsigned bytes
  private final int[] ids; // of spellings
  private final int[] prefix; // special tokens that a tokenizer puts before each text

  /**
   * Reads a {@code tokenizer.json}.
   *
   * @throws IllegalArgumentException when it cannot be used, or some byte is in no token, so that
   *     not every text has ids
   */
  public static TextVocabulary of(JsonObject tokenizer) {
    return new TextVocabulary(Vocabulary.of(tokenizer.members()), TokenizerPrefix.of(tokenizer));
  }

  /**
   * @param prefix special tokens that servers put before each text by themselves
   * @throws IllegalArgumentException when some byte is in no token, so that not every text has ids
   */
  TextVocabulary(TokenTable table, int[] prefix) {
    this.table = table;
    this.prefix = prefix.clone();
    var usable =
        IntStream.range(0, table.size())
            .filter(id -> !table.isSpecial(id) && table.bytes(id).length > 0)
            .boxed()
            .sorted(
                Comparator.comparing((Integer id) -> table.bytes(id), Arrays::compareUnsigned)
                    .thenComparing(Comparator.naturalOrder()))
            .mapToInt(Integer::intValue)
            .toArray();
    this.ids = usable;
    this.spellings = Arrays.stream(usable).mapToObj(table::bytes).toArray(byte[][]::new);
    for (int value = 0; value < BYTES; value++) {
      if (longestAt(new byte[] {(byte) value}, 0) < 0) {
        throw new IllegalArgumentException(
            "the model's vocabulary has no token for the byte 0x%02x, so that text has no token ids; use a model with a byte-level vocabulary or byte fallback"
                .formatted(value));
      }
    }
  }

  /**
   * Returns the text of a prompt, special tokens included, without those that the server puts
   * before it again; a prompt of these alone is left whole.
   */
  String promptText(int[] tokens) {
    boolean prefixed =
        tokens.length > prefix.length
            && Arrays.equals(tokens, 0, prefix.length, prefix, 0, prefix.length);
    return text(tokens, prefixed ? prefix.length : 0);
  }

  /** Returns the text of {@code tokens}, special ones included. */
  String text(int[] tokens) {
    return text(tokens, 0);
  }

  private String text(int[] tokens, int from) {
    var bytes = new ByteArrayOutputStream(4 * tokens.length);
    for (int i = from; i < tokens.length; i++) {
      bytes.writeBytes(bytes.size() == 0 ? table.firstBytes(tokens[i]) : table.bytes(tokens[i]));
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  /** Returns ids whose bytes are those of {@code text}. */
  int[] tokens(String text) {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    var tokens = new int[bytes.length];
    int count = 0;
    for (int at = 0; at < bytes.length; ) {
      int found = longestAt(bytes, at);
      tokens[count++] = ids[found];
      at += spellings[found].length;
    }
    return Arrays.copyOf(tokens, count);
  }

  /** Returns the index of the longest spelling of what is at {@code at}; -1 for none. */
  private int longestAt(byte[] bytes, int at) {
    int low = 0;
    int high = spellings.length; // those in between begin with the bytes so far
    int longest = -1;
    for (int depth = 0; at + depth < bytes.length; depth++) {
      int wanted = bytes[at + depth] & 0xFF;
      low = firstNotBelow(wanted, depth, low, high);
      high = firstNotBelow(wanted + 1, depth, low, high);
      if (low == high) {
        break;
      }
      if (spellings[low].length == depth + 1) { // the shortest comes first
        longest = low;
      }
    }
    return longest;
  }

  private int firstNotBelow(int wanted, int depth, int from, int to) {
    int low = from;
    int high = to;
    while (low < high) {
      int middle = (low + high) >>> 1;
      var spelling = spellings[middle];
      if (spelling.length > depth && (spelling[depth] & 0xFF) >= wanted) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
