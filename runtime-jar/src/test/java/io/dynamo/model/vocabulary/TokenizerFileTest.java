package io.dynamo.model.vocabulary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.json.Json;
import io.dynamo.model.ModelCardJson;
import io.dynamo.model.ModelDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TokenizerFileTest {
  @TempDir private Path dir;

  /** A line for each byte, in order, and one for {@code ab}. */
  private static String ranks() {
    var lines = new StringBuilder();
    for (int value = 0; value < 256; value++) {
      lines.append(line(new byte[] {(byte) value}, value));
    }
    return lines.append(line(new byte[] {'a', 'b'}, 256)).toString();
  }

  private static String line(byte[] token, int rank) {
    return Base64.getEncoder().encodeToString(token) + " " + rank + "\n";
  }

  private void model(String ranks, String added) throws IOException {
    Files.writeString(dir.resolve("config.json"), "{\"model_type\": \"kimi_k2\"}");
    Files.writeString(
        dir.resolve("tokenizer_config.json"), "{\"added_tokens_decoder\": {" + added + "}}");
    Files.writeString(dir.resolve("tiktoken.model"), ranks);
  }

  @Test
  void ranksAreReadWithTheirSpecialTokens() throws IOException {
    model(ranks(), "\"257\": {\"content\": \"[EOS]\"}");

    var table =
        Vocabulary.of(
            TokenizerFile.read(Objects.requireNonNull(TokenizerFile.find(dir))).members());

    assertThat(table.size()).isEqualTo(257 + 256);
    assertThat(table.bytes(0xFF)).containsExactly(0xFF);
    assertThat(table.bytes(256)).isEqualTo("ab".getBytes(StandardCharsets.UTF_8));
    assertThat(table.bytes(257)).asString().isEqualTo("[EOS]");
    assertThat(table.isSpecial(257)).isTrue();
    assertThat(table.bytes(258)).asString().isEqualTo("<|reserved_token_258|>");
  }

  @Test
  void theCardOfSuchAModelSurvivesDiscovery() throws IOException {
    model(ranks(), "");
    Files.move(dir.resolve("tiktoken.model"), dir.resolve("kimi.tiktoken"));

    var card = ModelDirectory.open(dir).card("kimi", 16, Map.of());

    var json = ModelCardJson.toJson(card);
    assertThat(json.get("tokenizer")).asString().startsWith("{tik_token_model={path=");
    assertThat(ModelCardJson.fromJson(Json.readObject(Json.write(json)))).isEqualTo(card);
    assertThat(card.extraFiles()).isEmpty();
  }

  @Test
  void severalVocabulariesAreRefusedUnlessOneHasTheUsualName() throws IOException {
    model(ranks(), "");
    Files.writeString(dir.resolve("a.tiktoken"), ranks());
    Files.writeString(dir.resolve("b.tiktoken"), ranks());
    assertThat(TokenizerFile.find(dir)).hasFileName("tiktoken.model");
    Files.delete(dir.resolve("tiktoken.model"));

    assertThatThrownBy(() -> ModelDirectory.open(dir))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("2 vocabularies", "a.tiktoken", "b.tiktoken", "keep one");

    Files.writeString(dir.resolve("tokenizer.json"), "{}");
    assertThat(TokenizerFile.find(dir)).hasFileName("tokenizer.json");
  }

  @ParameterizedTest
  @CsvSource({
    "YWI= 256 1, line 258 of the tiktoken vocabulary is not a token in base64 and its rank",
    "YWI=, line 258 of the tiktoken vocabulary is not a token in base64 and its rank",
    "Y!I= 257, line 258 of the tiktoken vocabulary has a token that is no base64",
    "YWM= 256, line 258 of the tiktoken vocabulary has the rank 256 a second time",
    "YWI= 257, line 258 of the tiktoken vocabulary has a token a second time",
    "YWM= -1, line 258 of the tiktoken vocabulary has no rank from 0 to 1048575",
    "YWM= 1048576, line 258 of the tiktoken vocabulary has no rank from 0 to 1048575",
    "YWM= x, line 258 of the tiktoken vocabulary has no rank from 0 to 1048575",
  })
  void malformedLinesAreRefusedAtTheStart(String line, String message) throws IOException {
    model(ranks() + line + "\n", "");

    assertThatThrownBy(() -> ModelDirectory.open(dir))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("tiktoken.model: ", message);
  }

  @Test
  void tokensOfTooManyBytesAndMissingBytesAreRefused() throws IOException {
    model(ranks() + line(new byte[513], 257), "");
    assertThatThrownBy(() -> ModelDirectory.open(dir)).hasMessageContaining("513 bytes");

    model(ranks().replaceFirst(".*\n", ""), "");
    assertThatThrownBy(() -> ModelDirectory.open(dir)).hasMessageContaining("the byte 0x00");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "'\"256\": {\"content\": \"x\"}'; has the id 256, which is not from 257",
        "'\"x\": {\"content\": \"x\"}'; has the id x,",
        "'\"99999999\": {\"content\": \"x\"}'; has the id 99999999,",
        "'\"258\": {\"content\": \"x\"}, \"259\": {\"content\": \"x\"}'; for one token",
      })
  void impossibleSpecialTokensAreRefused(String added, String message) throws IOException {
    model(ranks(), added);

    assertThatThrownBy(() -> ModelDirectory.open(dir)).hasMessageContaining(message);
  }
}
