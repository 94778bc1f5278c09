package io.dynamo.frontend.postprocess;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.StopConditions;
import io.dynamo.inference.StopReason;
import io.dynamo.model.vocabulary.TokenTable;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the items of one choice to text, and ends it at an end-of-text id, a stop id or a stop
 * string. The worker enforces the token limit. For one thread at a time.
 */
public final class TextAssembler {
  private static final int[] NONE = {};

  private final IncrementalDetokenizer detokenizer;
  private final StopStrings stops;
  private final int[] eosTokenIds;
  private final int[] stopTokenIds;
  private final int[] visibleStopTokenIds;
  private final int minTokens;
  private final StringBuilder out = new StringBuilder();

  private int generated;
  private boolean ended;
  private @Nullable StopReason stop;

  /**
   * @param stop with {@code ignoreEos} neither ids nor strings end the text; none of the first
   *     {@code minTokens} tokens is an end or part of one
   * @param eosTokenIds ids that end a text of the model; their own text is dropped
   * @param includeStop whether a matched stop string is part of the text
   * @param skipSpecialTokens whether special tokens are left out of the text
   */
  public TextAssembler(
      TokenTable table,
      StopConditions stop,
      int[] eosTokenIds,
      boolean includeStop,
      boolean skipSpecialTokens) {
    boolean endless = stop.ignoreEos();
    this.detokenizer = new IncrementalDetokenizer(table, skipSpecialTokens);
    this.stops = new StopStrings(endless ? List.of() : stop.stop(), includeStop);
    this.eosTokenIds = endless ? NONE : eosTokenIds.clone();
    this.stopTokenIds = endless ? NONE : ints(stop.stopTokenIds());
    this.visibleStopTokenIds = endless ? NONE : ints(stop.visibleStopTokenIds());
    this.minTokens = stop.minTokens() == null ? 0 : stop.minTokens();
  }

  /**
   * Returns the text that {@code output} adds; with a finish reason, also the held back text. Text
   * that the worker made itself is passed through; tokens after the end are ignored.
   */
  public TextDelta accept(EngineOutput output) {
    if (ended) {
      return new TextDelta("", 0, null, null);
    }
    int before = generated;
    FinishReason finish = null;
    if (output.text() != null) {
      generated += output.tokenIds().length;
      out.append(output.text());
    } else {
      finish = assemble(output.tokenIds());
    }
    if (finish == null) {
      finish = output.finishReason();
    }
    if (finish != null) {
      end();
    } else if (output.text() == null) {
      stops.drainSafe(out);
    }
    return new TextDelta(
        takeText(), generated - before, finish, stop == null ? output.stopReason() : stop);
  }

  private @Nullable FinishReason assemble(int[] tokenIds) {
    for (int id : tokenIds) {
      generated++;
      boolean mayStop = generated > minTokens;
      if (mayStop && contains(visibleStopTokenIds, id)) {
        detokenizer.append(id, stops.buffer());
        stops.pass();
        return FinishReason.STOP;
      }
      if (mayStop && contains(stopTokenIds, id)) {
        stop = new StopReason.Token(id);
        return FinishReason.STOP;
      }
      if (mayStop && contains(eosTokenIds, id)) {
        return FinishReason.EOS;
      }
      detokenizer.append(id, stops.buffer());
      if (!mayStop) {
        stops.pass();
      } else if (stops.search()) {
        stop = new StopReason.Text(Objects.requireNonNull(stops.matched()));
        return FinishReason.STOP;
      }
    }
    return null;
  }

  private void end() {
    ended = true;
    if (stops.matched() == null) {
      detokenizer.finish(stops.buffer());
    }
    stops.drainAll(out);
  }

  private String takeText() {
    if (out.isEmpty()) {
      return "";
    }
    var text = out.toString();
    out.setLength(0);
    return text;
  }

  private static int[] ints(List<Integer> ids) {
    return ids.stream().mapToInt(Integer::intValue).toArray();
  }

  private static boolean contains(int[] ids, int id) {
    for (int candidate : ids) {
      if (candidate == id) {
        return true;
      }
    }
    return false;
  }
}
