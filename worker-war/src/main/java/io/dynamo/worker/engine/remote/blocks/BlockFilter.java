package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.kv.StorageTier;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * Decides which blocks of a publisher routers can use, and warns once about each reason why some
 * are left out. Used by one thread at a time.
 */
final class BlockFilter {
  private static final System.Logger LOG = System.getLogger(BlockFilter.class.getName());
  private static final int LOGGED_MEDIUM = 64; // characters

  private final int rank;
  private final int blockTokens;
  private final BlockOutlet outlet;
  private boolean warnedOfSize;
  private boolean warnedOfMedium;

  BlockFilter(int rank, int blockTokens, BlockOutlet outlet) {
    this.rank = rank;
    this.blockTokens = blockTokens;
    this.outlet = outlet;
  }

  /** Returns the tier of an event's blocks; null when they are left out. */
  @Nullable StorageTier tier(@Nullable String medium, @Nullable Long group) {
    var tier = StorageTier.ofMedium(medium);
    if (tier == null) {
      if (!warnedOfMedium) {
        warnedOfMedium = true;
        LOG.log(
            Level.WARNING,
            "rank {0} of the engine has blocks in the unknown medium {1}: they are not routed to",
            rank,
            printable(String.valueOf(medium)));
      }
      return null;
    }
    boolean grouped = tier == StorageTier.DEVICE || tier == StorageTier.HOST_PINNED;
    boolean routed = (!grouped || group == null || group == 0) && outlet.takes(tier);
    return routed ? tier : null;
  }

  private static String printable(String text) {
    var start = text.substring(0, Math.min(text.length(), LOGGED_MEDIUM));
    return start.replaceAll("[^\\x20-\\x7e]", "?");
  }

  /** Whether blocks of so many tokens are those of the model's card. */
  boolean hasRightSize(int tokens) {
    if (tokens == blockTokens) {
      return true;
    }
    if (!warnedOfSize) {
      warnedOfSize = true;
      LOG.log(
          Level.WARNING,
          "rank {0} of the engine stores blocks of {1} tokens, its card says {2}: they are not"
              + " routed to",
          rank,
          tokens,
          blockTokens);
    }
    return false;
  }
}
