package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.sse.ByteText;
import java.util.Set;

/**
 * A checked request for the text of tokens, in vLLM's form.
 *
 * @param tokens owned by the record
 */
public record DetokenizeRequest(GenerationFields fields, int[] tokens) {
  private static final Set<String> KNOWN = Set.of("model", "tokens");

  /** The top-level fields of the API. */
  public static Set<String> names() {
    return KNOWN;
  }

  /**
   * Reads and checks.
   *
   * @throws io.dynamo.frontend.ApiException with 400
   */
  public static DetokenizeRequest read(JsonNode body) {
    var fields = JsonFields.of(body, "");
    var ids = fields.require("tokens");
    if (!ids.isArray()) {
      throw JsonFields.wrong("tokens", ids, "a list of token ids");
    }
    for (var field : body.properties()) {
      if (!KNOWN.contains(field.getKey())) {
        throw GenerationReader.refusePlainly(
            JsonFields.clipped(field.getKey()),
            "Unsupported parameter(s): `" + JsonFields.clipped(field.getKey()) + "`");
      }
    }
    return new DetokenizeRequest(TokenizeRequest.ofModel(fields), Nvext.tokenIds(ids, "tokens"));
  }

  /** The answer, as UTF-8 JSON. */
  public static byte[] answer(String text) {
    return new ByteText(32 + text.length())
        .ascii("{\"prompt\":")
        .quoted(text)
        .ascii("}")
        .toByteArray();
  }
}
