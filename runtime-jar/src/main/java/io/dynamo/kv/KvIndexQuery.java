package io.dynamo.kv;

import io.dynamo.token.BlockHashes;
import org.jspecify.annotations.Nullable;

/**
 * Queries a router's index for the blocks of a prompt that ranks hold.
 *
 * @param model the model whose workers are meant
 * @param deviceOnly whether tiers below the device are left out; null leaves that to the answering
 *     router, which then reports all tiers
 */
public record KvIndexQuery(String model, BlockHashes prompt, @Nullable Boolean deviceOnly) {
  /** The name of the endpoint, beside the workers' own, that answers. */
  public static final String ENDPOINT = "kv_indexer_query";
}
