package io.dynamo.model;

import org.jspecify.annotations.Nullable;

/**
 * A file of a model as its card names it.
 *
 * @param path a local path, or an address to fetch it from
 * @param checksum {@code blake3:} and 64 hex digits
 * @param size in bytes, null when not told
 */
public record ModelFile(String path, String checksum, @Nullable Long size) {}
