package io.dynamo.router;

/**
 * The phase of a generation that a worker is chosen for; it decides which of a client's pins apply.
 */
public enum RoutePhase {
  /** The whole generation, or the tokens after the prompt. */
  DECODE,
  /** The prompt alone. */
  PREFILL
}
