package io.dynamo.frontend.catalog;

import io.dynamo.frontend.preprocess.ModelText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the loaded texts: tokenizer and chat template of each model. A text whose models are gone
 * is kept for a while, since requests may still use it and the models may come back. One thread at
 * a time; the owner guards it.
 *
 * @param <K> identifies the files of a text
 */
final class TextShelf<K> {
  private static final class ShelvedText {
    final ModelText text;
    @Nullable Long unusedSinceNanos;

    ShelvedText(ModelText text) {
      this.text = text;
    }
  }

  private final int limit;
  private final long retentionNanos;
  private final LongSupplier nanoTime;
  private final Map<K, ShelvedText> texts = new HashMap<>();
  private int loading;

  /**
   * @param limit of the texts that are held or being loaded
   * @param retention of a text without a model; longer than any request
   * @param nanoTime as {@link System#nanoTime()}: a step of the wall clock must not close a text
   *     that requests still use
   */
  TextShelf(int limit, Duration retention, LongSupplier nanoTime) {
    this.limit = limit;
    this.retentionNanos = retention.toNanos();
    this.nanoTime = nanoTime;
  }

  @Nullable ModelText find(K key) {
    var held = texts.get(key);
    return held == null ? null : held.text;
  }

  /** Reserves a place for a text that is about to be loaded; returns false when there is none. */
  boolean reserve() {
    if (texts.size() + loading >= limit) {
      return false;
    }
    loading++;
    return true;
  }

  /** Frees the place of a load that has ended. */
  void endLoad() {
    loading--;
  }

  /** Adds {@code text}; returns a text already stored under the key, which stays. */
  @Nullable ModelText put(K key, ModelText text) {
    var before = texts.putIfAbsent(key, new ShelvedText(text));
    return before == null ? null : before.text;
  }

  /**
   * Removes the texts that were unused for the retention.
   *
   * @param used the keys in use
   * @return the removed texts, for the caller to close
   */
  List<ModelText> sweep(Set<K> used) {
    long now = nanoTime.getAsLong();
    var out = new ArrayList<ModelText>();
    texts
        .entrySet()
        .removeIf(
            entry -> {
              var held = entry.getValue();
              var since = held.unusedSinceNanos;
              if (used.contains(entry.getKey())) {
                held.unusedSinceNanos = null;
              } else if (since == null) {
                held.unusedSinceNanos = now;
              } else if (now - since >= retentionNanos) {
                out.add(held.text);
                return true;
              }
              return false;
            });
    return out;
  }

  /** Whether any text is unused. */
  boolean hasUnused() {
    return texts.values().stream().anyMatch(held -> held.unusedSinceNanos != null);
  }

  /** Removes all texts; the caller closes them. */
  List<ModelText> clear() {
    var out = texts.values().stream().map(held -> held.text).toList();
    texts.clear();
    return out;
  }
}
