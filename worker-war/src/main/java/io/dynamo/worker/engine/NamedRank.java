package io.dynamo.worker.engine;

import io.dynamo.error.InvalidRequestException;
import org.jspecify.annotations.Nullable;

/** Checks the rank that a request names. */
public final class NamedRank {
  private NamedRank() {}

  /**
   * Returns {@code rank}; null leaves the choice to the engine.
   *
   * @param ranks the number of ranks
   * @throws InvalidRequestException when {@code rank} is none of them
   */
  public static @Nullable Integer of(@Nullable Integer rank, int ranks) {
    if (rank != null && (rank < 0 || rank >= ranks)) {
      throw new InvalidRequestException(
          "dp_rank %d is out of bounds for dp_size %d".formatted(rank, ranks));
    }
    return rank;
  }
}
