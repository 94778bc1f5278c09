package io.dynamo.config.worker;

/** The kinds of engine with which a worker generates tokens. */
public enum EngineKind {
  /** A simulated engine: realistic pace, cache and events, tokens from a formula. */
  MOCK,
  /** An engine that computes a Llama model in this process. */
  LLAMA,
  /** An engine that returns the prompt. */
  ECHO,
  /** An engine that calls llama.cpp's server. */
  LLAMACPP,
  /** An engine that calls vLLM's server. */
  VLLM,
  /** An engine that calls SGLang's server. */
  SGLANG,
  /** An engine that calls TensorRT-LLM's server. */
  TRTLLM,
  /** An engine that calls any server with OpenAI's completions API, by text. */
  OPENAI
}
