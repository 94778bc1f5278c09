package io.dynamo.config.worker;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one model and its engine. Keys: {@code dynamo.worker.*}, or {@code
 * dynamo.worker.models.NAME.*}.
 *
 * @param apis what it answers clients with; null for all that its engine is asked for by default
 * @param engine the engine that generates tokens
 * @param modelPath a Hugging Face model directory
 * @param modelName the name that clients use; null takes the directory's name
 * @param toolCallParser the model's format of tool calls, by Dynamo's name, or {@code none}; null
 *     derives it from the chat template
 * @param reasoningParser the model's format of reasoning; the same
 * @param ranks data-parallel ranks, each with a KV cache of its own
 * @param blockTokens tokens per KV block
 * @param blocksPerRank KV blocks that a rank of the mock engine can hold
 * @param blockBytes bytes per KV block of the mock engine in host memory
 * @param tokenInterval the inter-token latency of the mock engine and the echo
 * @param prefillPerToken the mock engine's time per prompt token that is not cached
 * @param maxRunning generations that a rank runs at once
 * @param routerConfig the routing that the worker asks for, JSON as in a model card; null leaves
 *     that to the frontend
 * @param taints labels of the worker that requests may require or prefer
 * @param healthPayload the request of probes, JSON or {@code @} and a file; null requests one token
 * @param maxLoras adapters loaded at once
 * @param stallTimeout how long a rank with waiting requests may show no sign of life; zero for ever
 * @param llamaBlocksPerRank KV blocks that a rank of the llama engine can hold
 * @param llamaPassTokens limit of the tokens that one of its forward passes computes
 * @param embedding how it embeds
 * @param mock the mock engine's simulated passes
 * @param llamaCpp the connection to llama.cpp's server
 * @param remote the connection to the server of another engine
 * @param process the engine's server as a child of the worker
 */
public record WorkerSettings(
    String component,
    String endpoint,
    @Nullable Set<ModelApi> apis,
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
    EmbeddingSettings embedding,
    MockSettings mock,
    LlamaCppSettings llamaCpp,
    RemoteSettings remote,
    ProcessSettings process) {}
