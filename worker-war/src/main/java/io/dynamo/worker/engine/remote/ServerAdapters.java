package io.dynamo.worker.engine.remote;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The adapters that a worker has loaded into its server, and those of the server that have lost
 * their weights in a sleep. Safe for concurrent use.
 */
public final class ServerAdapters {
  private final Map<String, Path> loaded = new ConcurrentHashMap<>();
  private final Map<String, Path> unread = new ConcurrentHashMap<>();

  /** Returns the directory from which this worker has loaded an adapter; null for one of others. */
  @Nullable Path loadedFrom(String name) {
    return loaded.get(name);
  }

  /** Records that the server has an adapter with its weights, which this worker has loaded. */
  void loaded(String name, Path directory) {
    loaded.put(name, directory);
    unread.remove(name);
  }

  /** Records that the server does not have an adapter any more. */
  void unloaded(String name) {
    loaded.remove(name);
    unread.remove(name);
  }

  /** Records adapters whose weights are to be read again. */
  void lost(Map<String, Path> adapters) {
    unread.putAll(adapters);
  }

  /** Returns the directories of the adapters whose weights are to be read again, by their names. */
  Map<String, Path> unread() {
    return Map.copyOf(unread);
  }

  boolean isUnread(String name) {
    return unread.containsKey(name);
  }

  /** Records that an adapter is not to be read again. */
  void settled(String name) {
    unread.remove(name);
  }
}
