package io.dynamo.worker.engine;

import java.nio.file.Path;

/** An {@link Engine} that can generate with LoRA adapters. Safe for concurrent use. */
public interface AdapterHost {
  /**
   * Loads an adapter: requests whose {@code routing.lora_name} is {@code name} use it once this
   * method has returned. May block on files.
   *
   * @param directory has {@code adapter_config.json} and {@code adapter_model.safetensors}
   * @throws IllegalArgumentException when the engine cannot use it; the message says why
   */
  void loadAdapter(String name, Path directory);

  /**
   * Unloads an adapter; running generations finish with it, or end so that they migrate. No block
   * that was computed with it is reused for another adapter of the same name. Unknown names are
   * ignored.
   */
  void unloadAdapter(String name);
}
