package io.dynamo.config.worker;

/**
 * The kinds of answers that a worker gives clients, by Dynamo's names ({@code DYN_ENDPOINT_TYPES}).
 */
public enum ModelApi {
  CHAT,
  COMPLETIONS,
  EMBEDDING
}
