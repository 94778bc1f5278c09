package io.dynamo.worker.engine.llama;

/** How the states of a prompt's tokens become one vector. */
public enum Pooling {
  /** The state of the last token, which has seen all the others. */
  LAST,
  /** The mean of all tokens' states. */
  MEAN
}
