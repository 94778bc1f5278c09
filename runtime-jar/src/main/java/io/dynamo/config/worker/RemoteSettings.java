package io.dynamo.config.worker;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The connection to an engine's server, and values for facts that it does not report. Keys: {@code
 * dynamo.worker.remote.*}.
 *
 * @param url scheme, host and port
 * @param keyFile a file with the server's bearer key; null sends none
 * @param authorities PEM certificates that sign the server's; null takes those of the JVM
 * @param model the model to use of those that it serves; null takes its first
 * @param startTimeout how long a start waits for the server to have loaded its model
 * @param silenceTimeout how long the server may send nothing during an answer
 * @param blockTokens tokens per KV block; null where the server reports it
 * @param blocksPerRank KV blocks of one rank; null where the server reports it
 * @param kvEvents {@code tcp://host:port} of the KV events of rank 0; null where the server reports
 *     it
 * @param kvReplay the same of the socket that repeats them
 * @param secondKvEvents {@code tcp://host:port} of the KV events that a second publisher sends of
 *     rank 0; null where there is none
 * @param secondKvReplay the same of the socket that repeats them
 * @param tokenRoute whether a route that makes no text of the tokens is used where the server has
 *     one
 */
public record RemoteSettings(
    URI url,
    @Nullable Path keyFile,
    @Nullable Path authorities,
    @Nullable String model,
    Duration startTimeout,
    Duration silenceTimeout,
    @Nullable Integer blockTokens,
    @Nullable Integer blocksPerRank,
    @Nullable String kvEvents,
    @Nullable String kvReplay,
    @Nullable String secondKvEvents,
    @Nullable String secondKvReplay,
    boolean tokenRoute) {}
