package io.dynamo.frontend.catalog;

import io.dynamo.frontend.preprocess.ModelText;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The loaded texts. One whose models are gone stays for a while: requests may still use it, and the
 * models may come back. One thread at a time; the owner guards it.
 *
 * @param <K> what a text belongs to
 */
final class TextShelf<K> {
  private static final class Held {
    final ModelText text;
    @Nullable Instant unusedSince;

    Held(ModelText text) {
      this.text = text;
    }
  }

  private final int limit;
  private final Duration retention;
  private final InstantSource clock;
  private final Map<K, Held> texts = new HashMap<>();
  private int loading;

  /**
   * @param limit texts that are held or being loaded
   * @param retention of a text without a model; longer than any request
   */
  TextShelf(int limit, Duration retention, InstantSource clock) {
    this.limit = limit;
    this.retention = retention;
    this.clock = clock;
  }

  @Nullable ModelText find(K key) {
    var held = texts.get(key);
    return held == null ? null : held.text;
  }

  /** Takes a place for a text that is about to be loaded; false when there is none. */
  boolean reserve() {
    if (texts.size() + loading >= limit) {
      return false;
    }
    loading++;
    return true;
  }

  /** Gives back the place of a load that has ended. */
  void endLoad() {
    loading--;
  }

  /** Puts {@code text} there; returns the one that was there before it, which stays. */
  @Nullable ModelText put(K key, ModelText text) {
    var before = texts.putIfAbsent(key, new Held(text));
    return before == null ? null : before.text;
  }

  /** Takes out what nobody can use any more, given the keys that are in use; to be closed. */
  List<ModelText> sweep(Set<K> used) {
    var now = clock.instant();
    var out = new ArrayList<ModelText>();
    texts
        .entrySet()
        .removeIf(
            entry -> {
              var held = entry.getValue();
              var since = held.unusedSince;
              if (used.contains(entry.getKey())) {
                held.unusedSince = null;
              } else if (since == null) {
                held.unusedSince = now;
              } else if (!now.isBefore(since.plus(retention))) {
                out.add(held.text);
                return true;
              }
              return false;
            });
    return out;
  }

  /** Whether a text waits for its end. */
  boolean hasUnused() {
    return texts.values().stream().anyMatch(held -> held.unusedSince != null);
  }

  /** Takes out everything. */
  List<ModelText> clear() {
    var out = texts.values().stream().map(held -> held.text).toList();
    texts.clear();
    return out;
  }
}
