package io.dynamo.worker.engine.remote;

import io.dynamo.inference.Usage;

/** One generation as the end of its stream sees it. */
public interface GenerationWork {
  /** Called once, after the last token and before the stream ends. */
  void settled();

  Usage usage();

  /** Returns the number of generated tokens. */
  int made();

  /** Returns the maximum number of tokens to generate. */
  int budget();
}
