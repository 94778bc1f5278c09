package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.postprocess.IncrementalDetokenizer;
import io.dynamo.model.vocabulary.TokenTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Compares our detokenizer with the tokenizer library's own decoder. */
final class DetokenizerOracle {
  private static final Map<Path, LibraryEncoder> ENCODERS = new HashMap<>();

  private DetokenizerOracle() {}

  /** Decodes {@code ids} token by token, with special tokens and without; returns the former. */
  static String assertAgrees(Path folder, TokenTable table, int[] ids) {
    var oracle = ENCODERS.computeIfAbsent(folder, DetokenizerOracle::open);
    var wide = Arrays.stream(ids).asLongStream().toArray();
    var without = decode(table, ids, true);
    assertThat(without).as("%s", Arrays.toString(ids)).isEqualTo(oracle.decode(wide, true));
    var with = decode(table, ids, false);
    assertThat(with).as("%s", Arrays.toString(ids)).isEqualTo(oracle.decode(wide, false));
    return with;
  }

  private static String decode(TokenTable table, int[] ids, boolean skipSpecialTokens) {
    var detokenizer = new IncrementalDetokenizer(table, skipSpecialTokens);
    var text = new StringBuilder();
    for (int id : ids) {
      detokenizer.append(id, text);
      assertThat(text.isEmpty() || !Character.isHighSurrogate(text.charAt(text.length() - 1)))
          .as("a delta ends with a whole character")
          .isTrue();
    }
    detokenizer.finish(text);
    return text.toString();
  }

  private static LibraryEncoder open(Path folder) {
    try {
      return new LibraryEncoder(Files.readString(folder.resolve("tokenizer.json")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
