package io.dynamo.inference;

import org.jspecify.annotations.Nullable;

/**
 * A worker's whole answer to a {@link BodyTask}.
 *
 * @param json as JSON types: maps, lists, strings, numbers, booleans, null
 */
public record TaskOutput(@Nullable Object json) {}
