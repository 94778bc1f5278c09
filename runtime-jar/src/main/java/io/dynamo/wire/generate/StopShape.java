package io.dynamo.wire.generate;

import io.dynamo.inference.StopConditions;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/**
 * Reads and writes {@code stop_conditions}: 1.6.1 writes every field, null for an option that is
 * not set.
 */
final class StopShape {
  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int MAX_TOKENS = 0;
    static final int STOP = 1;
    static final int STOP_TOKEN_IDS = 2;
    static final int STOP_TOKEN_IDS_VISIBLE = 3;
    static final int STOP_TOKEN_IDS_HIDDEN = 4;
    static final int MIN_TOKENS = 5;
    static final int IGNORE_EOS = 6;
    static final int MAX_THINKING_TOKENS = 7;
    static final Keys KEYS =
        new Keys(
            Keys.entry(MAX_TOKENS, "max_tokens"),
            Keys.entry(STOP, "stop"),
            Keys.entry(STOP_TOKEN_IDS, "stop_token_ids"),
            Keys.entry(STOP_TOKEN_IDS_VISIBLE, "stop_token_ids_visible"),
            Keys.entry(STOP_TOKEN_IDS_HIDDEN, "stop_token_ids_hidden"),
            Keys.entry(MIN_TOKENS, "min_tokens"),
            Keys.entry(IGNORE_EOS, "ignore_eos"),
            Keys.entry(MAX_THINKING_TOKENS, "max_thinking_tokens"));
  }

  private StopShape() {}

  static void write(WireWriter out, StopConditions stop) throws IOException {
    out.beginMap(Field.KEYS.size());
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
    List<Integer> requested = List.of();
    List<Integer> visible = List.of();
    List<Integer> hidden = List.of();
    Integer minTokens = null;
    boolean ignoreEos = false;
    Integer maxThinking = null;
    in.beginMap();
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case Field.MAX_TOKENS -> maxTokens = in.smallInteger();
          case Field.STOP -> strings = in.strings();
          case Field.STOP_TOKEN_IDS -> requested = ids(in);
          case Field.STOP_TOKEN_IDS_VISIBLE -> visible = ids(in);
          case Field.STOP_TOKEN_IDS_HIDDEN -> hidden = ids(in);
          case Field.MIN_TOKENS -> minTokens = in.smallInteger();
          case Field.IGNORE_EOS -> ignoreEos = in.bool();
          case Field.MAX_THINKING_TOKENS -> maxThinking = in.smallInteger();
          default -> throw new IllegalStateException("key " + key);
        }
      }
    }
    return new StopConditions(
        maxTokens, strings, requested, visible, hidden, minTokens, ignoreEos, maxThinking);
  }

  private static List<Integer> ids(WireReader in) throws IOException {
    return Arrays.stream(in.ints()).boxed().toList();
  }
}
