package io.dynamo.config.worker;

/** The kind of engine that a worker makes tokens with. */
public enum EngineKind {
  /** Simulates an engine: pace, cache and events as real, tokens from a formula. */
  MOCK,
  /** Computes a Llama model in this process. */
  LLAMA,
  /** Gives the prompt back. */
  ECHO,
  /** Asks llama.cpp's server. */
  LLAMACPP
}
