package io.dynamo.worker.engine;

import io.dynamo.error.InvalidRequestException;
import org.jspecify.annotations.Nullable;

/** Which of an engine's ranks somebody names. */
public final class NamedRank {
  private NamedRank() {}

  /**
   * {@code rank}; null leaves the choice to the engine.
   *
   * @param ranks how many there are
   * @throws InvalidRequestException when it is none of them
   */
  public static @Nullable Integer of(@Nullable Integer rank, int ranks) {
    if (rank != null && (rank < 0 || rank >= ranks)) {
      throw new InvalidRequestException(
          "dp_rank %d is out of bounds for dp_size %d".formatted(rank, ranks));
    }
    return rank;
  }
}
