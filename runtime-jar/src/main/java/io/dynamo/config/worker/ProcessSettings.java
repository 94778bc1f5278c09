package io.dynamo.config.worker;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The engine's server as a child of the worker. Keys: {@code dynamo.worker.process.*}.
 *
 * @param command starts the server; null when it runs already
 * @param log a file to which its output is appended; null for the worker's own output
 * @param stopTimeout how long it may take to end before it is killed
 */
public record ProcessSettings(@Nullable String command, @Nullable Path log, Duration stopTimeout) {}
