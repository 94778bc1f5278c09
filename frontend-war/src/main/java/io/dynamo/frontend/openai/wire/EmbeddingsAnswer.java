package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.wire.generate.EmbeddingCodec;

/** Writes the answer to a request for embeddings, with Dynamo's order of keys. */
public final class EmbeddingsAnswer {
  private static final int BYTES_PER_NUMBER = 14; // as text, about; base64 takes less

  private EmbeddingsAnswer() {}

  /** The memory that the answer takes, about. */
  public static long bytes(EmbeddingOutput output) {
    long numbers = 0;
    for (var vector : output.vectors()) {
      numbers += vector.length;
    }
    return 2 * BYTES_PER_NUMBER * numbers; // while it is written, and whole
  }

  /**
   * The answer as UTF-8 JSON.
   *
   * @param tokens of all prompts
   */
  public static byte[] write(String model, EmbeddingOutput output, boolean base64, int tokens) {
    var json = new ByteText(512).ascii("{\"object\":\"list\",\"model\":").quoted(model);
    json.ascii(",\"data\":[");
    for (int i = 0; i < output.vectors().size(); i++) {
      json.ascii(i == 0 ? "" : ",").ascii("{\"index\":").number(i);
      json.ascii(",\"object\":\"embedding\",\"embedding\":");
      var vector = output.vectors().get(i);
      if (base64) {
        json.ascii("\"").ascii(EmbeddingCodec.base64(vector)).ascii("\"}");
      } else {
        numbers(json, vector);
        json.ascii("}");
      }
    }
    json.ascii("],\"usage\":{\"prompt_tokens\":").number(tokens);
    return json.ascii(",\"total_tokens\":").number(tokens).ascii("}}").toByteArray();
  }

  private static void numbers(ByteText json, float[] vector) {
    json.ascii("[");
    for (int i = 0; i < vector.length; i++) {
      json.ascii(i == 0 ? "" : ",").number(vector[i]);
    }
    json.ascii("]");
  }
}
