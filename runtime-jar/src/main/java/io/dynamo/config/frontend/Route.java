package io.dynamo.config.frontend;

import org.jspecify.annotations.Nullable;

/** The routes of the frontend whose paths can be set, with the names that Dynamo has for these. */
public enum Route {
  CHAT("chat", "/v1/chat/completions", "DYN_HTTP_SVC_CHAT_PATH", false, "chat completions"),
  COMPLETIONS("completions", "/v1/completions", "DYN_HTTP_SVC_CMP_PATH", false, "completions"),
  EMBEDDINGS("embeddings", "/v1/embeddings", "DYN_HTTP_SVC_EMB_PATH", false, "embeddings"),
  RERANK("rerank", "/v1/rerank", "DYN_HTTP_SVC_RERANK_PATH", false, "reranking"),
  CLASSIFY("classify", "/v1/classify", "DYN_HTTP_SVC_CLASSIFY_PATH", false, "classification"),
  POOLING("pooling", "/v1/pooling", "DYN_HTTP_SVC_POOLING_PATH", false, "pooling"),
  RESPONSES(
      "responses",
      "/v1/responses",
      "DYN_HTTP_SVC_RESPONSES_PATH",
      true,
      "Responses, with `/input_tokens` and stored ones below"),
  CONVERSATIONS(
      "conversations",
      "/v1/conversations",
      null,
      true,
      "conversations that Responses continue, with their ids below"),
  FILES(
      "files",
      "/v1/files",
      "DYN_HTTP_SVC_FILES_PATH",
      true,
      "files for batches, with their ids below"),
  BATCHES(
      "batches", "/v1/batches", "DYN_HTTP_SVC_BATCHES_PATH", true, "batches, with their ids below"),
  MESSAGES(
      "messages",
      "/v1/messages",
      "DYN_HTTP_SVC_ANTHROPIC_PATH",
      true,
      "Anthropic's Messages, with `/count_tokens` below"),
  VLLM_GENERATE(
      "vllm-generate",
      "/inference/v1/generate",
      "DYN_HTTP_SVC_VLLM_GENERATE_PATH",
      false,
      "vLLM's native route"),
  SGLANG_GENERATE(
      "sglang-generate",
      "/generate",
      "DYN_HTTP_SVC_SGLANG_GENERATE_PATH",
      false,
      "SGLang's native route"),
  MODELS("models", "/v1/models", "DYN_HTTP_SVC_MODELS_PATH", true, "models, with their ids below"),
  LIVE("live", "/live", "DYN_HTTP_SVC_LIVE_PATH", false, "the probe of liveness"),
  HEALTH(
      "health",
      "/health",
      "DYN_HTTP_SVC_HEALTH_PATH",
      true,
      "the probes of health, with `/ready`, `/live` and `/started` below; `/health` stays beside"
          + " it"),
  METRICS(
      "metrics",
      "/metrics",
      "DYN_HTTP_SVC_METRICS_PATH",
      true,
      "the metrics; `/metrics` stays beside it");

  private final String key;
  private final String standard;
  private final @Nullable String variable;
  private final boolean tree;
  private final String meaning;

  Route(String key, String standard, @Nullable String variable, boolean tree, String meaning) {
    this.key = key;
    this.standard = standard;
    this.variable = variable;
    this.tree = tree;
    this.meaning = meaning;
  }

  /** The last part of the setting's name. */
  String key() {
    return key;
  }

  /** The path where the route is unless it is set. */
  public String standard() {
    return standard;
  }

  /** Dynamo's variable of the path; null for a route that Dynamo does not have. */
  @Nullable String variable() {
    return variable;
  }

  String meaning() {
    return meaning;
  }

  /** Whether the route is served at its standard path, too, when it has another one. */
  public boolean isKept() {
    return this == HEALTH || this == METRICS;
  }

  /**
   * Whether {@code path} belongs to the route when that is at {@code place}: the place itself, and
   * what is below it if the route has such paths.
   */
  public boolean covers(String place, String path) {
    return path.equals(place) || (tree && path.startsWith(place + "/"));
  }
}
