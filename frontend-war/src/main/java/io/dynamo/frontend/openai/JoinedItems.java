package io.dynamo.frontend.openai;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes one item of items that follow each other, where no one can tell them from it. */
final class JoinedItems {
  private JoinedItems() {}

  /** Whether {@code item} is one of tokens alone, and may be followed by others in one item. */
  static boolean isOpen(EngineOutput item) {
    return item.finishReason() == null
        && item.stopReason() == null
        && item.passedOn().isEmpty()
        && isPlain(item);
  }

  /** Whether {@code next} may be joined to {@code open}, which may also end the item. */
  static boolean continues(EngineOutput open, EngineOutput next) {
    return isPlain(next)
        && next.finishReason() != FinishReason.ERROR
        && (next.passedOn().isEmpty() || next.finishReason() != null)
        && (next.tokenIds().length == 0
            || open.tokenIds().length == 0
            || alike(open.logprobs(), next.logprobs()));
  }

  private static boolean isPlain(EngineOutput item) {
    var logprobs = item.logprobs();
    return item.annotation() == null
        && item.text() == null
        && item.errorMessage() == null
        && item.index() == 0
        && (logprobs == null
            || ((logprobs.tokens() == null || logprobs.tokens().length == item.tokenIds().length)
                && (logprobs.top().isEmpty() || logprobs.top().size() == item.tokenIds().length)));
  }

  private static boolean alike(@Nullable Logprobs a, @Nullable Logprobs b) {
    if (a == null || b == null) {
      return a == null && b == null;
    }
    return (a.tokens() == null) == (b.tokens() == null) && a.top().isEmpty() == b.top().isEmpty();
  }

  /** Joins items that continue each other; at least one. */
  static EngineOutput of(List<EngineOutput> items) {
    var last = items.getLast();
    if (items.size() == 1) {
      return last;
    }
    int count = 0;
    var usage = last.usage();
    var described = new ArrayList<Logprobs>();
    for (var item : items) {
      count += item.tokenIds().length;
      usage = item.usage() == null ? usage : item.usage();
      if (item.logprobs() != null && item.tokenIds().length > 0) {
        described.add(item.logprobs());
      }
    }
    var ids = new int[count];
    int at = 0;
    for (var item : items) {
      System.arraycopy(item.tokenIds(), 0, ids, at, item.tokenIds().length);
      at += item.tokenIds().length;
    }
    return new EngineOutput(
        ids,
        null,
        last.finishReason(),
        null,
        0,
        usage,
        described.isEmpty() ? last.logprobs() : Logprobs.joined(described),
        last.stopReason(),
        last.passedOn());
  }
}
