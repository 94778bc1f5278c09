package io.dynamo.config.worker;

/**
 * The settings of a worker's embeddings. Keys: {@code dynamo.worker.embedding.*}.
 *
 * @param endpoint third part of their endpoint, where the worker generates too
 * @param pooling how the states of a prompt's tokens become one vector
 * @param unitLength whether vectors are scaled to length 1
 */
public record EmbeddingSettings(String endpoint, Pooling pooling, boolean unitLength) {
  /** How the states of a prompt's tokens become one vector. */
  public enum Pooling {
    LAST,
    MEAN
  }
}
