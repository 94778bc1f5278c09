package io.dynamo.frontend.openai;

import io.dynamo.model.vocabulary.TokenTable;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A prompt as token ids, with its text.
 *
 * @param tokens owned by the record, not to be changed
 * @param text the rendered or given text; null when the client gave tokens
 * @param rendered whether a template made the text
 */
record PreparedPrompt(int[] tokens, @Nullable String text, boolean rendered) {
  /** The prompt as text; token ids are decoded. */
  String asText(TokenTable vocabulary) {
    if (text != null) {
      return text;
    }
    var bytes = new ByteArrayOutputStream(4 * tokens.length);
    for (int id : tokens) {
      bytes.writeBytes(vocabulary.bytes(id));
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
