package io.dynamo.kv;

import io.dynamo.token.BlockHashes;
import org.jspecify.annotations.Nullable;

/**
 * Asks a router's index what ranks hold of a prompt.
 *
 * @param model whose workers are meant
 * @param deviceOnly whether what lies below the device is left out; null leaves it to the answerer,
 *     who then tells of all tiers
 */
public record KvIndexQuery(String model, BlockHashes prompt, @Nullable Boolean deviceOnly) {
  /** The endpoint beside the workers' own that answers. */
  public static final String ENDPOINT = "kv_indexer_query";
}
