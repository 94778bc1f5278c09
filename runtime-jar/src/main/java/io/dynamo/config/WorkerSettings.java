package io.dynamo.config;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The worker and its engine. Keys: {@code dynamo.worker.*}.
 *
 * @param modelPath a Hugging Face model directory
 * @param modelName the name that clients use; null takes the directory's name
 * @param toolCallParser how the model writes tool calls, by Dynamo's name; null when it does not
 * @param reasoningParser how the model marks its thoughts, by Dynamo's name; null when it does not
 * @param ranks data-parallel ranks, each with a KV cache of its own
 * @param blockTokens tokens per KV block
 * @param blocksPerRank KV blocks that a rank can hold
 * @param blockBytes bytes per KV block in host memory
 * @param tokenInterval the engine's inter-token latency
 * @param prefillPerToken the engine's time per prompt token that is not cached
 * @param maxRunning generations that a rank runs at once
 */
public record WorkerSettings(
    String component,
    String endpoint,
    Path modelPath,
    @Nullable String modelName,
    @Nullable String toolCallParser,
    @Nullable String reasoningParser,
    int ranks,
    int blockTokens,
    int blocksPerRank,
    int blockBytes,
    Duration tokenInterval,
    Duration prefillPerToken,
    int maxRunning) {}
