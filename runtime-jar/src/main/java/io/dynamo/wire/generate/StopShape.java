package io.dynamo.wire.generate;

import io.dynamo.inference.StopConditions;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/** {@code stop_conditions}: 1.6.1 writes every field, null where nothing is asked. */
final class StopShape {
  private static final Keys FIELDS =
      new Keys(
          "max_tokens",
          "stop",
          "stop_token_ids",
          "stop_token_ids_visible",
          "stop_token_ids_hidden",
          "min_tokens",
          "ignore_eos",
          "max_thinking_tokens");

  private StopShape() {}

  static void write(WireWriter out, StopConditions stop) throws IOException {
    out.beginMap(FIELDS.size());
    out.integerOrNil("max_tokens", stop.maxTokens());
    out.key("stop");
    if (stop.stop().isEmpty()) {
      out.nil();
    } else {
      out.strings(stop.stop());
    }
    ids(out, "stop_token_ids", stop.stopTokenIds());
    ids(out, "stop_token_ids_visible", stop.visibleStopTokenIds());
    ids(out, "stop_token_ids_hidden", stop.hiddenStopTokenIds());
    out.integerOrNil("min_tokens", stop.minTokens());
    out.boolOrNil("ignore_eos", stop.ignoreEos() ? Boolean.TRUE : null);
    out.integerOrNil("max_thinking_tokens", stop.maxThinkingTokens());
    out.endMap();
  }

  private static void ids(WireWriter out, String name, List<Integer> ids) throws IOException {
    out.anyOrNil(name, ids.isEmpty() ? null : ids);
  }

  static StopConditions read(WireReader in) throws IOException {
    Integer maxTokens = null;
    List<String> strings = List.of();
    List<Integer> asked = List.of();
    List<Integer> visible = List.of();
    List<Integer> hidden = List.of();
    Integer minTokens = null;
    boolean ignoreEos = false;
    Integer maxThinking = null;
    in.beginMap();
    for (int key = in.nextKey(FIELDS); key != Keys.END; key = in.nextKey(FIELDS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case 0 -> maxTokens = in.smallInteger();
          case 1 -> strings = in.strings();
          case 2 -> asked = ids(in);
          case 3 -> visible = ids(in);
          case 4 -> hidden = ids(in);
          case 5 -> minTokens = in.smallInteger();
          case 6 -> ignoreEos = in.bool();
          default -> maxThinking = in.smallInteger();
        }
      }
    }
    return new StopConditions(
        maxTokens, strings, asked, visible, hidden, minTokens, ignoreEos, maxThinking);
  }

  private static List<Integer> ids(WireReader in) throws IOException {
    return Arrays.stream(in.ints()).boxed().toList();
  }
}
