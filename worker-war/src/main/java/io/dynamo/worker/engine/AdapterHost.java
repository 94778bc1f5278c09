package io.dynamo.worker.engine;

import java.nio.file.Path;

/** An {@link Engine} that can generate with LoRA adapters. Safe for concurrent use. */
public interface AdapterHost {
  /**
   * Takes an adapter up: requests whose {@code routing.lora_name} is {@code name} use it from the
   * return on. May block on files.
   *
   * @param directory has {@code adapter_config.json} and {@code adapter_model.safetensors}
   * @throws IllegalArgumentException when the engine cannot use it; the message says why
   */
  void loadAdapter(String name, Path directory);

  /**
   * Gives an adapter up; generations under way finish with it, or end so that they migrate. No
   * block that was computed with it is reused for another of its name. Unknown names are ignored.
   */
  void unloadAdapter(String name);
}
