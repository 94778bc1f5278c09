package io.dynamo.router;

import org.jspecify.annotations.Nullable;

/**
 * What one request changes of the router's settings; null leaves them. Dynamo 1.6.1 parses more
 * fields here and acts on these two.
 *
 * @param assumeKvReuse whether the prompt's blocks are believed to be shared with equal prompts
 * @param trackPrefillTokens whether the prompt counts as work ahead
 */
public record RouteOverride(@Nullable Boolean assumeKvReuse, @Nullable Boolean trackPrefillTokens) {
  public static final RouteOverride NONE = new RouteOverride(null, null);
}
