package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.kv.EngineKvEvent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Stored events whose first block follows an unknown one, by the publisher's name of that. Bounded
 * by their tokens: the oldest are dropped. Used by one thread at a time.
 */
final class WaitingStores {
  /** The most tokens of one publisher's events. */
  static final int MAX_TOKENS = 1 << 22;

  private final int maxTokens;
  private Map<Long, Map<Long, EngineKvEvent.Stored>> byParent = new LinkedHashMap<>();
  private long tokens;

  WaitingStores(int maxTokens) {
    this.maxTokens = maxTokens;
  }

  /** Keeps an event; of several that begin with the same block, the longest. */
  void add(long parent, EngineKvEvent.Stored event) {
    var siblings = byParent.computeIfAbsent(parent, _ -> new LinkedHashMap<>());
    long first = event.hashes()[0];
    var before = siblings.get(first);
    if (before == null || before.tokens().length < event.tokens().length) {
      siblings.put(first, event);
      tokens += event.tokens().length - (before == null ? 0 : before.tokens().length);
    }
    while (tokens > maxTokens) {
      take(byParent.keySet().iterator().next());
    }
  }

  /** Removes and returns the events whose first block follows that one. */
  List<EngineKvEvent.Stored> take(long parent) {
    var siblings = byParent.remove(parent);
    if (siblings == null) {
      return List.of();
    }
    var events = new ArrayList<>(siblings.values());
    for (var event : events) {
      tokens -= event.tokens().length;
    }
    return events;
  }

  void clear() {
    byParent = new LinkedHashMap<>(); // clearing a large one takes time whenever it is done
    tokens = 0;
  }
}
