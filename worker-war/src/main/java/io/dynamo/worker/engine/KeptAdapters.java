package io.dynamo.worker.engine;

import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * The adapters that a {@link SleepableEngine} gives to each engine that it makes. Guarded by the
 * lock of its owner.
 */
final class KeptAdapters {
  private static final System.Logger LOG = System.getLogger(KeptAdapters.class.getName());

  private final Map<String, Path> directories = new LinkedHashMap<>();
  private final Set<String> unloadedAsleep = new LinkedHashSet<>(); // a server may have them still

  /**
   * Loads an adapter, and keeps it for later engines.
   *
   * @throws IllegalArgumentException when the engine takes no adapters, or not this one
   */
  void load(EngineParts engine, String name, Path directory) {
    host(engine).loadAdapter(name, directory);
    directories.put(name, directory);
  }

  /** Unloads an adapter; unknown names are ignored. */
  void unload(EngineParts engine, String name) {
    if (directories.remove(name) != null) {
      host(engine).unloadAdapter(name);
    }
  }

  /** Has the next engine unload an adapter; unknown names are ignored. */
  void unloadAsleep(String name) {
    if (directories.remove(name) != null) {
      unloadedAsleep.add(name);
    }
  }

  /** Makes a new engine have the adapters, but for those that it refuses, which is logged. */
  void restore(EngineParts made) {
    unloadedAsleep.forEach(name -> host(made).unloadAdapter(name));
    unloadedAsleep.clear();
    directories.forEach((name, directory) -> loadAgain(made, name, directory));
  }

  private static void loadAgain(EngineParts made, String name, Path directory) {
    try {
      host(made).loadAdapter(name, directory);
    } catch (IllegalArgumentException e) {
      LOG.log(
          Level.WARNING,
          "the engine wakes without the adapter {0}, whose requests go to other workers; unload it"
              + " and load it again: {1}",
          name,
          e.getMessage());
    }
  }

  private static AdapterHost host(EngineParts of) {
    if (of.engine() instanceof AdapterHost host) {
      return host;
    }
    throw new IllegalArgumentException(
        "this engine takes no LoRA adapters; llama, mock, vllm and sglang do");
  }
}
