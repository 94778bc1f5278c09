package io.dynamo.router.endpoint;

import io.dynamo.router.RouteRequest;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.TrackingKey;
import org.jspecify.annotations.Nullable;

/**
 * How the blocks of an endpoint's prompts are named: openly, to find them in caches, and perhaps
 * under a secret, to tell other routers of them. Immutable.
 */
final class PromptHashing {
  private static final String ONLY_GROUP = "default"; // a router here has no routing groups

  private final EndpointProfile profile;
  private final @Nullable TrackingKey key;

  /**
   * @param key null names blocks openly to everybody
   */
  PromptHashing(EndpointProfile profile, @Nullable TrackingKey key) {
    this.profile = profile;
    this.key = key;
  }

  /** Names by which caches know the blocks. */
  BlockHashes cached(RouteRequest request) {
    var hints = request.hints();
    var hasher = BlockHasher.of(request.blockTokens(), hints.loraName(), hints.cacheSalt());
    return (profile.eagle() ? hasher.eagle() : hasher).hash(request.tokenIds());
  }

  /**
   * Names by which routers know them while they are active.
   *
   * @param cached what {@link #cached} has said
   */
  BlockHashes tracked(RouteRequest request, BlockHashes cached) {
    if (key == null) {
      return cached;
    }
    var hints = request.hints();
    return key.hasher(
            profile.model(),
            ONLY_GROUP,
            request.blockTokens(),
            hints.cacheSalt(),
            hints.loraName(),
            profile.eagle())
        .hash(request.tokenIds());
  }
}
