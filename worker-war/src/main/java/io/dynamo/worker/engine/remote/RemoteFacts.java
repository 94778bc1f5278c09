package io.dynamo.worker.engine.remote;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The limits that a server reports, completed by settings.
 *
 * @param positions tokens of one sequence
 * @param blockTokens tokens per KV block
 * @param totalBlocks KV blocks of one rank
 * @param ranks data-parallel ranks
 * @param maxRunning generations that one rank runs at once
 * @param passTokens tokens that one forward pass computes at most, null when unknown
 * @param events where each rank publishes its KV events; empty when they do not
 */
public record RemoteFacts(
    int positions,
    int blockTokens,
    int totalBlocks,
    int ranks,
    int maxRunning,
    @Nullable Integer passTokens,
    List<KvEventEndpoint> events) {
  public RemoteFacts {
    events = List.copyOf(events);
  }

  /**
   * Returns the value of a setting that the server may report too.
   *
   * @param actual what the server reports; null when it reports nothing
   * @throws IllegalArgumentException when both differ, or neither is there
   */
  public static int agreed(String setting, @Nullable Integer wanted, @Nullable Integer actual) {
    if (actual == null) {
      if (wanted == null) {
        throw new IllegalArgumentException(
            "it does not report what %s says; set it".formatted(setting));
      }
      return wanted;
    }
    if (wanted != null && !actual.equals(wanted)) {
      throw new IllegalArgumentException(
          "it reports %d, %s is %d; leave the setting out".formatted(actual, setting, wanted));
    }
    return actual;
  }
}
