package io.dynamo.config.worker;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One model and its engine. Keys: {@code dynamo.worker.*}, or {@code dynamo.worker.models.NAME.*}.
 *
 * @param engine what makes the tokens
 * @param modelPath a Hugging Face model directory
 * @param modelName the name that clients use; null takes the directory's name
 * @param toolCallParser how the model writes tool calls, by Dynamo's name, or {@code none}; null
 *     takes what the chat template shows
 * @param reasoningParser how the model marks its thoughts; the same
 * @param ranks data-parallel ranks, each with a KV cache of its own
 * @param blockTokens tokens per KV block
 * @param blocksPerRank KV blocks that a rank of the mock engine can hold
 * @param blockBytes bytes per KV block of the mock engine in host memory
 * @param tokenInterval the inter-token latency of the mock engine and the echo
 * @param prefillPerToken the mock engine's time per prompt token that is not cached
 * @param maxRunning generations that a rank runs at once
 * @param routerConfig how requests are to be routed to the worker, JSON as in a model card; null
 *     leaves that to the frontend
 * @param taints what requests may require of the worker, or prefer
 * @param healthPayload what probes ask, JSON or {@code @} and a file; null asks for one token
 * @param maxLoras adapters loaded at once
 * @param stallTimeout how long a rank may show no sign of life while somebody waits; zero for ever
 * @param llamaBlocksPerRank KV blocks that a rank of the llama engine can hold
 * @param llamaPassTokens tokens that one of its forward passes computes at most
 * @param mock how the mock engine makes up its passes
 * @param llamaCpp the way to llama.cpp's server
 */
public record WorkerSettings(
    String component,
    String endpoint,
    EngineKind engine,
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
    int maxRunning,
    @Nullable String routerConfig,
    List<String> taints,
    @Nullable String healthPayload,
    int maxLoras,
    Duration stallTimeout,
    int llamaBlocksPerRank,
    int llamaPassTokens,
    MockSettings mock,
    LlamaCppSettings llamaCpp) {}
