package io.dynamo.worker.engine.remote;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** The LoRA adapters that a server lists, for dialects of servers that list them. */
public interface AdapterListing {
  /** Returns the directory of each adapter by its name, in the server's order. */
  Map<String, Path> adapters(EngineHttp http) throws IOException, InterruptedException;
}
