package io.dynamo.config.frontend;

import java.time.Duration;

/**
 * The OpenAI-compatible frontend. Keys: {@code dynamo.frontend.*}.
 *
 * @param migrationLimit how often one generation may move to another worker
 * @param maxConcurrentRequests requests of all models, waiting ones included; more are answered 503
 *     with {@code Retry-After}
 * @param bodyLimitBytes of a request body
 * @param uploadTimeout for a whole request body
 * @param requestTimeout a generation's deadline
 * @param firstItemWait how long the status line waits for the first item
 * @param heartbeat between comments on a stream without its first token
 * @param writeStall how long a stream may go without progress of its reader
 * @param disconnectPoll how long a request runs before its client is watched
 * @param preprocessThreads templates and tokenizers at work at once
 * @param prefixCacheBytes for the token ids of parts of prompts; 0 encodes every prompt whole
 * @param admission whom it lets in, model by model
 * @param adminApi whether thresholds can be looked at and set over HTTP
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
    boolean adminApi) {}
