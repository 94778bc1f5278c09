package io.dynamo.model.vocabulary;

import java.util.ArrayList;
import java.util.Base64;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads the other kind of vocabulary, that of OpenAI's {@code tiktoken}: a line for each token, its
 * bytes in base64 and its rank, which is its id. The bytes of two tokens are merged where they are
 * those of a third, the lowest rank first. The Kimi models have such a file. Stateless.
 */
public final class TiktokenFile {
  /** The usual name of the file. */
  public static final String NAME = "tiktoken.model";

  /**
   * The {@code model.type} of what is read, which no {@code tokenizer.json} has: without merges, as
   * the ranks say all.
   */
  public static final String MODEL_TYPE = "tiktoken";

  static final String ENDING = ".tiktoken";

  /** The models whose pattern the frontend knows; some copies of Kimi K2.5 say DeepSeek's name. */
  private static final List<String> MODELS =
      List.of("deepseek_v3", "kimi", "kimi_k2", "kimi_k25", "kimi_k3", "kimi_linear");

  private static final int MAX_TOKENS = 1 << 20;
  private static final int MAX_BYTES = 512; // of a token
  private static final int RESERVED = 256; // ids behind the ranks that are special tokens

  private TiktokenFile() {}

  /** Whether a file of that name is such a vocabulary. */
  public static boolean isNamed(String name) {
    return name.equals(NAME) || name.endsWith(ENDING);
  }

  /**
   * Returns the tokenizer in the form of a parsed {@code tokenizer.json}, whose vocabulary is
   * spelled in the {@link ByteAlphabet}.
   *
   * @param config the parsed {@code config.json}
   * @param tokenizerConfig the parsed {@code tokenizer_config.json}
   * @throws IllegalArgumentException when the vocabulary is malformed, or of a model whose pattern
   *     is not known
   */
  public static Map<String, Object> tokenizer(
      String file, Map<?, ?> config, Map<?, ?> tokenizerConfig) {
    if (!(config.get("model_type") instanceof String type) || !MODELS.contains(type)) {
      throw new IllegalArgumentException(
          "config.json has the model_type %s, for which no pattern of a tiktoken vocabulary is known; known are %s; other models need a tokenizer.json"
              .formatted(config.get("model_type"), String.join(", ", MODELS)));
    }
    var vocabulary = new HashMap<String, Integer>();
    int size = read(file, vocabulary);
    return Map.of(
        "model",
        Map.of("type", MODEL_TYPE, "vocab", vocabulary),
        "decoder",
        Map.of("type", "ByteLevel"),
        "added_tokens",
        added(tokenizerConfig.get("added_tokens_decoder"), size));
  }

  /** Returns the highest rank plus one. */
  private static int read(String file, Map<String, Integer> vocabulary) {
    var ranks = new BitSet();
    int number = 0;
    for (var line : (Iterable<String>) file.lines()::iterator) {
      number++;
      if (line.isBlank()) {
        continue;
      }
      var fields = line.strip().split("\\s+", 3);
      if (fields.length != 2) {
        throw bad(number, "is not a token in base64 and its rank");
      }
      int rank = rank(fields[1], number);
      if (ranks.get(rank)) {
        throw bad(number, "has the rank " + rank + " a second time");
      }
      ranks.set(rank);
      if (vocabulary.put(ByteAlphabet.spelled(bytes(fields[0], number)), rank) != null) {
        throw bad(number, "has a token a second time");
      }
    }
    for (int value = 0; value < 256; value++) {
      if (!vocabulary.containsKey(ByteAlphabet.spelled(new byte[] {(byte) value}))) {
        throw new IllegalArgumentException(
            "the tiktoken vocabulary has no token for the byte 0x%02x, so that not every text could be encoded"
                .formatted(value));
      }
    }
    return ranks.length();
  }

  private static byte[] bytes(String text, int line) {
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw bad(line, "has a token that is no base64: " + e.getMessage());
    }
    if (bytes.length == 0 || bytes.length > MAX_BYTES) {
      throw bad(
          line, "has a token of %d bytes instead of 1 to %d".formatted(bytes.length, MAX_BYTES));
    }
    return bytes;
  }

  private static int rank(String text, int line) {
    try {
      int rank = Integer.parseInt(text);
      if (rank >= 0 && rank < MAX_TOKENS) {
        return rank;
      }
    } catch (NumberFormatException _) {
      // said below
    }
    throw bad(line, "has no rank from 0 to %d behind its token".formatted(MAX_TOKENS - 1));
  }

  private static IllegalArgumentException bad(int line, String what) {
    return new IllegalArgumentException("line " + line + " of the tiktoken vocabulary " + what);
  }

  /**
   * The special tokens: those of {@code added_tokens_decoder}, and one of a made-up name for each
   * id behind the ranks that has none, as the models' own code makes them.
   */
  private static List<Map<String, Object>> added(@Nullable Object decoder, int size) {
    var contents = new TreeMap<Integer, Map<String, Object>>();
    for (int id = size; id < size + RESERVED; id++) {
      contents.put(id, token(id, "<|reserved_token_" + id + "|>", true));
    }
    var ids = new HashMap<String, Integer>();
    for (var entry : decoder instanceof Map<?, ?> map ? map.entrySet() : Map.of().entrySet()) {
      int id = id(String.valueOf(entry.getKey()), size);
      if (entry.getValue() instanceof Map<?, ?> token
          && token.get("content") instanceof String content
          && !content.isEmpty()) {
        var other = ids.put(content, id);
        if (other != null) {
          throw new IllegalArgumentException(
              "added_tokens_decoder of tokenizer_config.json has the ids %d and %d for one token"
                  .formatted(other, id));
        }
        contents.put(id, token(id, content, !Boolean.FALSE.equals(token.get("special"))));
      }
    }
    return new ArrayList<>(contents.values());
  }

  private static int id(String text, int size) {
    try {
      int id = Integer.parseInt(text);
      if (id >= size && id < 2 * MAX_TOKENS) {
        return id;
      }
    } catch (NumberFormatException _) {
      // said below
    }
    throw new IllegalArgumentException(
        "added_tokens_decoder of tokenizer_config.json has the id %s, which is not from %d, behind the ranks of the tiktoken vocabulary, to %d"
            .formatted(text, size, 2 * MAX_TOKENS - 1));
  }

  private static Map<String, Object> token(int id, String content, boolean special) {
    return Map.of("id", id, "content", content, "special", special);
  }
}
