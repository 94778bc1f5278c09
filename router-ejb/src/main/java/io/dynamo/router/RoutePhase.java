package io.dynamo.router;

/** Which half of a generation a worker is wanted for; it decides which pins of a client count. */
public enum RoutePhase {
  /** The whole of it, or the tokens after the prompt. */
  DECODE,
  /** The prompt alone. */
  PREFILL
}
