package io.dynamo.router;

import org.jspecify.annotations.Nullable;

/**
 * Router settings that one request overrides; null keeps the router's own setting. Dynamo 1.6.1
 * parses more fields here and acts on these two.
 *
 * @param assumeKvReuse whether the prompt's blocks are assumed to be shared with equal prompts
 * @param trackPrefillTokens whether the prompt counts as prefill load
 */
public record RouteOverride(@Nullable Boolean assumeKvReuse, @Nullable Boolean trackPrefillTokens) {
  public static final RouteOverride NONE = new RouteOverride(null, null);
}
