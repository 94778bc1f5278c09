package io.dynamo.frontend.openai;

import io.dynamo.frontend.openai.wire.Nvext;
import io.dynamo.frontend.sse.ByteText;
import org.jspecify.annotations.Nullable;

/** What a stream tells ahead of its chunks, when asked: events whose value is in a comment. */
final class Annotations {
  private Annotations() {}

  /** The frames, in Dynamo's order, or null for none. */
  static @Nullable ByteText prelude(Nvext nvext, String requestId, PreparedPrompt prompt) {
    if (nvext.annotations().isEmpty()) {
      return null;
    }
    var frames = new ByteText(256);
    for (var name : new String[] {"request_id", "token_ids", "formatted_prompt"}) {
      if (nvext.annotations().contains(name)) {
        var value =
            switch (name) {
              case "request_id" -> requestId;
              case "token_ids" -> ids(prompt.tokens());
              default -> prompt.rendered() ? prompt.text() : null;
            };
        if (value != null) {
          frames.ascii("event: ").ascii(name).ascii("\n: ").quoted(value).ascii("\n\n");
        }
      }
    }
    return frames.size() == 0 ? null : frames;
  }

  private static String ids(int[] tokens) {
    var text = new StringBuilder("[");
    for (int i = 0; i < tokens.length; i++) {
      text.append(i == 0 ? "" : ",").append(Integer.toUnsignedString(tokens[i]));
    }
    return text.append(']').toString();
  }
}
