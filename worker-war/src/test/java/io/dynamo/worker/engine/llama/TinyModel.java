package io.dynamo.worker.engine.llama;

import io.dynamo.json.Json;
import io.dynamo.worker.engine.llama.math.Kernel;
import io.dynamo.worker.engine.llama.weights.LlamaWeights;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The model that ships with the server, and PyTorch's reference results for it. */
public final class TinyModel {
  public static final Path DIRECTORY =
      Path.of("../server-config/src/main/liberty/config/models/tiny");
  public static final int EOS = 4089;
  private static final Map<String, LlamaModel> LOADED = new ConcurrentHashMap<>();

  /** A prompt and its greedy continuation up to the end of the turn, or the reference's budget. */
  public record Golden(String name, int[] prompt, int[] output, String text) {
    @Override
    public String toString() {
      return name;
    }
  }

  private TinyModel() {}

  static LlamaModel model(Kernel kernel) {
    return LOADED.computeIfAbsent(kernel.name(), _ -> LlamaModel.load(DIRECTORY, kernel));
  }

  static LlamaWeights weights(Kernel kernel) {
    return model(kernel).weights();
  }

  public static List<Golden> golden() {
    try (var in = Objects.requireNonNull(TinyModel.class.getResourceAsStream("golden.json"))) {
      var text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      var json = Json.readObject(("{\"cases\":" + text + "}").getBytes(StandardCharsets.UTF_8));
      return json.list("cases").stream().map(TinyModel::golden).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the text of tokens, read from the tokenizer's vocabulary of byte letters. */
  public static String text(int... tokens) throws IOException {
    var tokenizer = Json.readObject(Files.readAllBytes(DIRECTORY.resolve("tokenizer.json")));
    var names = new HashMap<Object, String>();
    tokenizer.object("model").object("vocab").members().forEach((name, id) -> names.put(id, name));
    var bytes = new ByteArrayOutputStream();
    for (int token : tokens) {
      for (char letter : names.getOrDefault(token, "").toCharArray()) {
        bytes.write(byteOf(letter));
      }
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  /** Returns the byte that a letter of a byte-level vocabulary stands for. */
  private static int byteOf(char letter) {
    if (letter < 0x100) {
      return letter;
    }
    if (letter <= 0x120) {
      return letter - 0x100; // control characters and the space
    }
    return letter == 0x143 ? 0xAD : letter - 0x121 + 0x7F;
  }

  private static Golden golden(@Nullable Object json) {
    var members = Json.readObject(Json.write(asMap(Objects.requireNonNull(json))));
    return new Golden(
        members.text("name"),
        ints(members.list("prompt_ids")),
        ints(members.list("output_ids")),
        members.text("output_text"));
  }

  @SuppressWarnings("unchecked") // an object of the file
  private static Map<String, @Nullable Object> asMap(Object json) {
    return (Map<String, @Nullable Object>) json;
  }

  private static int[] ints(List<?> numbers) {
    return numbers.stream().mapToInt(number -> ((Number) number).intValue()).toArray();
  }
}
