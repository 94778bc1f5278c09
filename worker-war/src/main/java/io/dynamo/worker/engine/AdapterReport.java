package io.dynamo.worker.engine;

import java.nio.file.Path;
import java.util.Map;

/** Reports the LoRA adapters that an engine's own server has. Safe for concurrent use. */
public interface AdapterReport {
  /**
   * Returns the directory of each adapter by its name, as the server names it; empty for engines
   * that have none but those that were loaded through {@link AdapterHost}.
   *
   * @throws IllegalStateException when the server cannot be asked
   */
  Map<String, Path> serverAdapters();
}
