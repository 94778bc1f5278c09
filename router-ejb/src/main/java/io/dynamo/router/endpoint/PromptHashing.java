package io.dynamo.router.endpoint;

import io.dynamo.router.RouteRequest;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.TrackingKey;
import org.jspecify.annotations.Nullable;

/**
 * Hashes the blocks of an endpoint's prompts: without a secret, to find them in caches, and perhaps
 * with a secret, to publish them to other routers. Immutable.
 */
final class PromptHashing {
  private static final String ONLY_GROUP = "default"; // this router has no routing groups

  private final EndpointProfile profile;
  private final @Nullable TrackingKey key;

  /**
   * Creates the hashing of one endpoint.
   *
   * @param key the secret for published hashes; null publishes the hashes that caches use
   */
  PromptHashing(EndpointProfile profile, @Nullable TrackingKey key) {
    this.profile = profile;
    this.key = key;
  }

  /** Returns the hashes by which caches know the blocks. */
  BlockHashes cached(RouteRequest request) {
    var hints = request.hints();
    var hasher = BlockHasher.of(request.blockTokens(), hints.loraName(), hints.cacheSalt());
    return (profile.eagle() ? hasher.eagle() : hasher).hash(request.tokenIds());
  }

  /**
   * Returns the hashes by which routers know the blocks while they are active.
   *
   * @param cached the result of {@link #cached}
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
