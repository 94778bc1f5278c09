package io.dynamo.config.frontend;

import java.time.Duration;

/**
 * The settings of the OpenAI-compatible frontend. Keys: {@code dynamo.frontend.*}.
 *
 * @param migrationLimit how often one generation may move to another worker
 * @param maxConcurrentRequests requests of all models, including waiting ones; further ones are
 *     answered 503 with {@code Retry-After}
 * @param bodyLimitBytes limit of a request body
 * @param uploadTimeout limit for receiving a whole request body
 * @param requestTimeout a generation's deadline
 * @param firstItemWait how long the status line waits for the first item
 * @param heartbeat time between comments on a stream without its first token
 * @param writeStall how long a stream may continue while its reader makes no progress
 * @param disconnectPoll how long a request runs before its client's connection is watched
 * @param preprocessThreads templates and tokenizers that run at once
 * @param prefixCacheBytes for the token ids of parts of prompts; 0 encodes every prompt whole
 * @param admission bounds of admitted requests, for each model
 * @param adminApi whether thresholds can be read and set over HTTP
 * @param responses which responses are stored, where and how long
 * @param coalescing how long tokens may be held to leave together, for each model
 * @param media which media of prompts are fetched, and how
 * @param warmUp how long synthetic requests may hold readiness back at the start; zero sends none
 */
public record FrontendSettings(
    int migrationLimit,
    int maxConcurrentRequests,
    int bodyLimitBytes,
    Duration uploadTimeout,
    Duration requestTimeout,
    Duration firstItemWait,
    Duration heartbeat,
    Duration writeStall,
    Duration disconnectPoll,
    int preprocessThreads,
    int prefixCacheBytes,
    FrontendAdmission admission,
    boolean adminApi,
    ResponsesSettings responses,
    Coalescing coalescing,
    MediaSettings media,
    Duration warmUp) {}
