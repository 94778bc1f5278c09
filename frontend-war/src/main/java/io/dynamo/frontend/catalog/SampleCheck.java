package io.dynamo.frontend.catalog;

import io.dynamo.discovery.ModelRecord;
import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import io.dynamo.model.RenderedSample;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Compares the tokens that an engine's own server makes of a sample prompt with those that this
 * frontend makes of it, and warns where they differ: such a model answers other prompts than its
 * clients wrote. It is served all the same.
 */
final class SampleCheck {
  private static final System.Logger LOG = System.getLogger(SampleCheck.class.getName());

  /**
   * Nothing, and thinking on and off: an engine may have another default, which no prompt depends
   * on, as this frontend writes them all.
   */
  private static final List<Map<String, Object>> THINKING =
      List.of(
          Map.of(),
          Map.of("thinking", true, "enable_thinking", true),
          Map.of("thinking", false, "enable_thinking", false));

  private static final int SHOWN_AROUND = 3; // tokens before and behind the first difference

  private SampleCheck() {}

  /** Compares the samples of all {@code records} with {@code text}, on a thread of {@code on}. */
  static void start(Collection<ModelRecord> records, ModelText text, Executor on) {
    for (var record : records) {
      if (record.card().runtimeConfig().containsKey("runtime_data")) {
        on.execute(() -> report(record, text));
      }
    }
  }

  private static void report(ModelRecord record, ModelText text) {
    var problem = problem(record.card(), text);
    if (problem != null) {
      LOG.log(
          System.Logger.Level.WARNING,
          "model {0}, by the card of {1}: {2}",
          record.card().displayName(),
          record.key(),
          problem);
    }
  }

  /** Returns how the sample of a card differs from its text here; null when it does not. */
  static @Nullable String problem(ModelCard card, ModelText text) {
    RenderedSample sample;
    try {
      sample = RenderedSample.of(card);
    } catch (IllegalArgumentException e) {
      return "its engine's sample prompt cannot be compared: " + e.getMessage();
    }
    if (sample == null) {
      return null;
    }
    try {
      if (sample.messages().isEmpty()) {
        return difference(text.encode(sample.text(), RenderedSample.MAX_TOKENS), sample.tokenIds());
      }
      String first = null;
      for (var args : THINKING) {
        var prompt = text.render(new ChatPrompt(sample.messages(), List.of(), args));
        var found = difference(text.encode(prompt, RenderedSample.MAX_TOKENS), sample.tokenIds());
        if (found == null) {
          return null;
        }
        first = first == null ? found : first;
      }
      return first;
    } catch (RuntimeException e) { // of the template, the tokenizer, or since the text was closed
      return "its engine renders a sample prompt to %d tokens, and this frontend fails: %s; see docs/engines.md#rendering"
          .formatted(sample.tokenIds().size(), e.getMessage());
    }
  }

  private static @Nullable String difference(int[] here, List<Integer> there) {
    int at = 0;
    while (at < here.length && at < there.size() && here[at] == there.get(at)) {
      at++;
    }
    if (at == here.length && at == there.size()) {
      return null;
    }
    var own = Arrays.stream(here).boxed().toList();
    return "its engine renders a sample prompt otherwise than this frontend: %d tokens there, %d here, first other at %d: %s there, %s here; give worker and engine the same model files and chat template, see docs/engines.md#rendering"
        .formatted(there.size(), own.size(), at, around(there, at), around(own, at));
  }

  private static List<Integer> around(List<Integer> ids, int at) {
    return ids.subList(
        Math.min(ids.size(), Math.max(0, at - SHOWN_AROUND)),
        Math.min(ids.size(), at + SHOWN_AROUND + 1));
  }
}
