package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.JoinedMessage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Fuzz target: any text that a model may write, read by the tool-call parser of the family that the
 * first byte of the input chooses. However the text is cut, the message is the same.
 */
public final class ToolCallTextFuzz {
  private static final int MAX_PIECE = 7; // characters

  private ToolCallTextFuzz() {}

  /** Called by the fuzzer and by the replay of the corpus. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length == 0) {
      return;
    }
    var families = ToolFamily.values();
    var family = families[Math.floorMod(input[0], families.length)];
    var text = new String(input, 1, input.length - 1, StandardCharsets.UTF_8);
    var whole = JoinedMessage.of(family.parser(ToolSchemas.NONE), List.of(text));
    var pieces = new ArrayList<String>();
    for (int at = 0, length = 1; at < text.length(); at += length) {
      length = 1 + (at * 31 + input.length) % MAX_PIECE;
      pieces.add(text.substring(at, Math.min(text.length(), at + length)));
    }
    var cut = JoinedMessage.of(family.parser(ToolSchemas.NONE), pieces);
    if (!cut.equals(whole)) {
      throw new IllegalStateException(
          "%s reads %s whole and %s in pieces".formatted(family, whole, cut));
    }
  }
}
