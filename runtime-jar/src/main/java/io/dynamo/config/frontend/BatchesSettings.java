package io.dynamo.config.frontend;

import java.time.Duration;

/**
 * The files that clients upload and the batches of requests that they make of them. Keys: {@code
 * dynamo.frontend.batches.*}.
 *
 * @param enabled false: the routes are 404 and nothing runs
 * @param concurrency requests of all batches that run at once
 * @param running batches that run at once; others wait
 * @param maxFileBytes of one file
 * @param maxLineBytes of one line
 * @param maxLines of one batch
 * @param maxBytes of all files, those of results among them
 * @param maxFiles that are kept, those of results among them
 * @param maxBatches that have not ended; as many ended ones are kept, the last
 * @param maxAge how long files and ended batches are kept
 */
public record BatchesSettings(
    boolean enabled,
    int concurrency,
    int running,
    long maxFileBytes,
    int maxLineBytes,
    int maxLines,
    long maxBytes,
    int maxFiles,
    int maxBatches,
    Duration maxAge) {}
