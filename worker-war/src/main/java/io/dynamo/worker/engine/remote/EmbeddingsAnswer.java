package io.dynamo.worker.engine.remote;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.wire.generate.EmbeddingCodec;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A server's answer of {@code /v1/embeddings}, checked.
 *
 * @param vectors in the order of the inputs
 * @param promptTokens as the server counts them; 0 when it does not say
 */
record EmbeddingsAnswer(List<float[]> vectors, int promptTokens) {
  EmbeddingsAnswer {
    vectors = List.copyOf(vectors);
  }

  /**
   * Reads an answer.
   *
   * @param inputs number of inputs that were sent
   * @throws IllegalArgumentException when it does not have one finite vector for each input, all of
   *     the same length
   */
  static EmbeddingsAnswer of(byte[] body, int inputs) {
    var answer = Json.readObject(body);
    var vectors = new float[inputs][];
    int width = 0;
    for (var entry : answer.optionalObjects("data")) {
      int index = entry.count("index");
      if (index >= inputs || vectors[index] != null) {
        throw new IllegalArgumentException("index %d is unknown or twice".formatted(index));
      }
      var vector = vector(entry);
      if (width != 0 && vector.length != width) {
        throw new IllegalArgumentException(
            "vectors of %d and %d numbers".formatted(width, vector.length));
      }
      width = vector.length;
      vectors[index] = vector;
    }
    if (inputs == 0 || Arrays.asList(vectors).contains(null)) {
      throw new IllegalArgumentException("not every input has a vector");
    }
    var usage = answer.optionalObject("usage");
    var tokens = usage == null ? null : usage.optionalCount("prompt_tokens");
    return new EmbeddingsAnswer(List.of(vectors), tokens == null ? 0 : tokens);
  }

  private static float[] vector(JsonObject entry) {
    var vector =
        entry.members().get("embedding") instanceof String text
            ? decoded(text)
            : floats(entry.list("embedding"));
    for (float number : vector) {
      if (!Float.isFinite(number)) {
        throw new IllegalArgumentException("a vector has the value " + number);
      }
    }
    if (vector.length == 0) {
      throw new IllegalArgumentException("a vector is empty");
    }
    return vector;
  }

  private static float[] decoded(String base64) {
    try {
      return EmbeddingCodec.vector(base64);
    } catch (IOException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static float[] floats(List<@Nullable Object> numbers) {
    var floats = new float[numbers.size()];
    for (int i = 0; i < floats.length; i++) {
      if (!(numbers.get(i) instanceof Number number)) {
        throw new IllegalArgumentException("a vector holds " + numbers.get(i));
      }
      floats[i] = number.floatValue();
    }
    return floats;
  }
}
