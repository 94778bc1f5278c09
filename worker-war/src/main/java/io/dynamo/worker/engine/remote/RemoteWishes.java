package io.dynamo.worker.engine.remote;

import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The values that settings give for a server; a null one is asked of the server, another must agree
 * with its answer.
 *
 * @param model the name of the model at the server
 * @param blockTokens tokens per KV block
 * @param blocksPerRank KV blocks of one rank
 * @param events where rank 0 publishes its KV events; the ports of others are higher by their rank
 * @param maxRunning generations that one rank runs at once, where the server does not say
 * @param vocabulary number of token ids of the model according to its own files
 */
public record RemoteWishes(
    @Nullable String model,
    @Nullable Integer blockTokens,
    @Nullable Integer blocksPerRank,
    @Nullable KvEventEndpoint events,
    int maxRunning,
    int vocabulary) {
  /**
   * Returns the tokens per KV block.
   *
   * @param reported by the server, null when it does not say
   * @throws IllegalArgumentException when both differ, or neither is there
   */
  public int blockTokens(@Nullable Integer reported) {
    return RemoteFacts.agreed("dynamo.worker.remote.block-tokens", blockTokens, reported);
  }

  /**
   * Returns the KV blocks of one rank.
   *
   * @param reported by the server, null when it does not say
   * @throws IllegalArgumentException when both differ, or neither is there
   */
  public int blocksPerRank(@Nullable Integer reported) {
    return RemoteFacts.agreed("dynamo.worker.remote.blocks-per-rank", blocksPerRank, reported);
  }

  /**
   * Returns where each rank publishes its KV events: by the setting, else as reported.
   *
   * @param reported by the server; empty when it does not say
   */
  public List<KvEventEndpoint> events(List<KvEventEndpoint> reported, int ranks) {
    var first = events;
    return first == null ? reported : IntStream.range(0, ranks).mapToObj(first::ofRank).toList();
  }
}
