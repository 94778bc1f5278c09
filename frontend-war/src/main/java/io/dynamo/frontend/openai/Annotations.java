package io.dynamo.frontend.openai;

import io.dynamo.frontend.openai.wire.Nvext;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.Annotation;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Writes SSE events whose value is in comments: those that a client requests ahead of the chunks,
 * and those that a worker sends between them.
 */
final class Annotations {
  private static final Pattern LINE_BREAKS = Pattern.compile("\\r\\n|[\\r\\n]");

  private Annotations() {}

  /** The requested events that precede the chunks, in Dynamo's order; null for none. */
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

  /** Appends a worker's annotation. Its line breaks end lines of comment, never the frame. */
  static void append(Annotation annotation, ByteText frames) {
    frames.ascii("event: ").append(utf8(LINE_BREAKS.matcher(annotation.event()).replaceAll(" ")));
    frames.ascii("\n");
    for (var comment : annotation.comments()) {
      for (var line : LINE_BREAKS.split(comment, -1)) {
        frames.ascii(": ").append(utf8(line)).ascii("\n");
      }
    }
    frames.ascii("\n");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String ids(int[] tokens) {
    var text = new StringBuilder("[");
    for (int i = 0; i < tokens.length; i++) {
      text.append(i == 0 ? "" : ",").append(Integer.toUnsignedString(tokens[i]));
    }
    return text.append(']').toString();
  }
}
